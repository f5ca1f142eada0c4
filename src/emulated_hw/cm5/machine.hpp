// A CM-5: nodes, their two data networks and their control network (von Eicken 1993, 3.2).
//
//   Machine machine(16);
//   machine.node(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_or_throw([&] { return done; });
//
// The clock is the networks', of 25 ns. Processors have 33 cycles in 40 of these, all in the same ones.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/cm5/processor.hpp"
#include "emulated_hw/kit/machine_of.hpp"

namespace am::cm5 {

inline constexpr unsigned processor_mhz = 33;
inline constexpr unsigned network_mhz = 1000 / cycle_ns;

class Machine final : public kit::MachineOf<Processor> {
 public:
  static constexpr std::size_t usual_words = 4096;
  /// Of 2 to 1024 nodes, all in one partition, with so many words of memory each. `seed`: of what the networks choose. Throws
  /// std::invalid_argument.
  explicit Machine(NodeNumber nodes, std::size_t words = usual_words, std::uint64_t seed = 1);

  /// Cycles of the networks.
  [[nodiscard]] Cycle now() const noexcept override { return networks_.now(); }
  /// Cycles that all processors have made.
  [[nodiscard]] const Cycle& processor_cycles() const noexcept { return processor_cycles_; }
  /// A number that depends on everything that has passed the networks, when and where, and on what processors did.
  [[nodiscard]] std::uint64_t fingerprint() { return fingerprint_with(networks_.fingerprint()); }
  /// Tells it from now on what happens, until it is told otherwise; before anything does. What processors do is told in the networks'
  /// cycles. It outlives that, and is of topology().
  void record(kit::Trace* trace) noexcept {
    networks_.record(trace);
    trace_ = trace;
  }
  [[nodiscard]] const kit::FatTree& topology() const { return networks_[Side::left].tree().shape(); }

  void step(std::span<const NodeNumber> order = {}) override;

 private:
  [[nodiscard]] Cycle still_for() const override { return networks_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return networks_.under_way() != 0; }
  void add_network_waits(kit::Waits& waits) const override {
    networks_.add_waits(waits);
    for (const NetworkInterface& interface : interfaces_) interface.add_waits(waits);
  }

  DataNetworks networks_;
  std::vector<NodeNumber> map_;  // of the partition
  std::vector<NetworkInterface> interfaces_;
  Cycle processor_cycles_ = 0;
  kit::Trace* trace_ = nullptr;
};

/// What a trace of a machine calls things.
[[nodiscard]] inline kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title), .messages = {"left", "right"}, .activities = {"computes"}};
}

}  // namespace am::cm5
