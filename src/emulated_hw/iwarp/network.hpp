// The communication agents of an array of iWarp cells, and the busses between them, under one clock of 50 ns (Borkar et al. 1990, 4 to 6).
//
// A cycle: programs and memory agents act on the agents of their cells, then step(). What leaves a cell is seen by others in later cycles only,
// so the order of cells within a cycle does not matter.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>

#include "emulated_hw/iwarp/communication_agent.hpp"
#include "emulated_hw/iwarp/wiring.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::iwarp {

class Network {
 public:
  using Setting = Busses::Setting;

  /// The same share of channels for each bus.
  explicit Network(const kit::Wiring& wiring, const Share& share = {}, const Setting& setting = {});
  /// Throws std::length_error where a cell would have more than 20 channels one way, std::invalid_argument for a queue of no words, or of more
  /// than 8.
  Network(kit::Wiring wiring, const Allocation& allocation, const Setting& setting = {});
  Network(const Network&) = delete;  // agents refer to it
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const kit::Wiring& wiring() const noexcept { return wiring_; }
  [[nodiscard]] CellNumber cells() const noexcept { return wiring_.routers(); }
  [[nodiscard]] CommunicationAgent& agent(CellNumber cell) { return agents_.at(cell); }
  [[nodiscard]] const CommunicationAgent& agent(CellNumber cell) const { return agents_.at(cell); }
  [[nodiscard]] Cycle now() const noexcept { return busses_.now; }
  /// `order`: if given, all cells, in the order in which they are stepped.
  void step(std::span<const CellNumber> order = {});

  /// f(cell, bus, word) for each word that leaves a cell from now on, in its cycle.
  void watch(std::function<void(CellNumber, Direction, const Word&)> f) { busses_.watcher = std::move(f); }

  /// Words in queues and on busses.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return busses_.under_way; }
  [[nodiscard]] Cycle still_for() const noexcept { return now() - busses_.last_move; }
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return busses_.fingerprint; }
  /// Adds each channel that waits, or that nothing comes to. A cell's program is the place "cell N".
  void add_waits(kit::Waits& waits) const;

 private:
  void allocate(const Allocation& allocation);

  const kit::Wiring wiring_;
  Busses busses_;
  std::deque<CommunicationAgent> agents_;
};

}  // namespace am::iwarp
