// An nCUBE/2: nodes on their hypercube, under one clock of 50 ns (von Eicken 1993, 3.1).
//
//   Machine machine(4);                                   // 16 nodes
//   machine.node(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_or_throw([&] { return done; });
#pragma once

#include <span>
#include <string>
#include <utility>

#include "emulated_hw/kit/machine_of.hpp"
#include "emulated_hw/ncube2/processor.hpp"

namespace am::ncube2 {

class Machine final : public kit::MachineOf<Processor> {
 public:
  static constexpr std::size_t usual_words = 4096;
  /// Of 2^dimensions nodes, with so many words of memory each. Throws std::invalid_argument.
  explicit Machine(unsigned dimensions, std::size_t words = usual_words);

  [[nodiscard]] Network& network() noexcept { return network_; }
  [[nodiscard]] Cycle now() const noexcept override { return network_.now(); }
  /// A number that depends on everything that has passed the network, when and where, and on what processors did.
  [[nodiscard]] std::uint64_t fingerprint();
  /// Tells it from now on what happens, until it is told otherwise; before anything does. It outlives that, and is of topology().
  void record(kit::Trace* trace) noexcept {
    network_.record(trace);
    for (const auto& processor : processors()) processor->record(trace);
  }
  [[nodiscard]] kit::Hypercube topology() const { return kit::Hypercube(network_.dimensions()); }

  void step(std::span<const NodeNumber> order = {}) override;

 private:
  [[nodiscard]] Cycle still_for() const override { return network_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return network_.under_way() != 0; }
  void add_network_waits(kit::Waits& waits) const override { network_.add_waits(waits); }

  Cycle cycles_ = 0;  // that all processors have made
  Network network_;
};

/// What a trace of a machine calls things.
[[nodiscard]] inline kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title),
          .messages = {"message"},
          .activities = {"computes", "trap", "interrupt", "handler", "reti"}};
}

}  // namespace am::ncube2
