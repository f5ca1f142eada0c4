// An iWarp: an array of cells under one clock of 50 ns (Borkar et al. 1990).
//
//   Machine machine(grid_wiring(kit::Grid({{8, true}, {8, true}})));   // the 8 x 8 torus
//   machine.cell(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_or_throw([&] { return done; });
#pragma once

#include <deque>
#include <span>
#include <string>

#include "emulated_hw/iwarp/network.hpp"
#include "emulated_hw/iwarp/processor.hpp"
#include "emulated_hw/kit/machine.hpp"

namespace am::iwarp {

class Machine final : public kit::Machine {
 public:
  static constexpr std::size_t usual_words = 4096;
  /// Throws what a network does. Of each cell, so many words of memory.
  explicit Machine(const kit::Wiring& wiring, const Share& share = {}, std::size_t words = usual_words);

  [[nodiscard]] Processor& cell(CellNumber cell) { return processors_.at(cell); }
  [[nodiscard]] CellNumber cells() const noexcept { return network_.cells(); }
  [[nodiscard]] Network& network() noexcept { return network_; }
  [[nodiscard]] Cycle now() const noexcept override { return network_.now(); }
  [[nodiscard]] std::string who_waits() const override;
  /// All programs have ended.
  [[nodiscard]] bool have_ended() const;
  /// Until they have. Throws std::runtime_error where they wait for ever, and says for what.
  void run_to_end() {
    run_or_throw([this] { return have_ended(); });
  }

  void step(std::span<const CellNumber> order = {}) override;

 private:
  [[nodiscard]] Cycle still_for() const override { return network_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return network_.under_way() != 0; }
  [[nodiscard]] bool all_sleep() const override;
  [[nodiscard]] bool is_busy_for(Cycle cycles) const override;

  Network network_;
  std::deque<Processor> processors_;
};

}  // namespace am::iwarp
