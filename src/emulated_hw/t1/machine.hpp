// A CNS-1: T1s on their mesh, under one clock.
//
//   Machine machine({.rows = 4, .columns = 4});
//   machine.node(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_until([&] { return done; });
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/machine_of.hpp"
#include "emulated_hw/t1/hardware_handlers.hpp"
#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/processor.hpp"

namespace am::t1 {

class Machine final : public kit::MachineOf<Processor> {
 public:
  /// Events of all kinds but outlets are enabled on all nodes. Throws std::invalid_argument.
  explicit Machine(const Mesh::Shape& shape)
      : MachineOf("t1", grid_of(shape).nodes()),
        mesh_(shape, [this](NodeNumber node) { return &add_interface(node); }) {}

  /// Handlers in hardware, on all nodes, for as long as it runs: the report leaves them to the implementor (3.9). Once; the memories
  /// are of as many nodes, and outlive it.
  void add_hardware_handlers(Memories& memories) {
    for (NodeNumber number = 0; number < nodes(); ++number)
      hardware_.emplace_back(node(number).ni(), memories.of(number), nodes());
  }
  [[nodiscard]] const HardwareHandlers& hardware(NodeNumber node) const { return hardware_.at(node); }

  /// The same code on all nodes.
  void place(Address at, const Processor::Code& code) {
    for (const auto& processor : processors()) processor->place(at, code);
  }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] Cycle now() const noexcept override { return mesh_.now(); }

  /// Tells it from now on what happens, until it is told otherwise; before anything does. It outlives that.
  void record(kit::Trace* trace) {
    mesh_.record(trace);
    for (const auto& processor : processors()) processor->record(trace);
  }

  void step(std::span<const NodeNumber> order = {}) override {
    mesh_.step(order);
    step_nodes(order, [this](NodeNumber number) {
      step(number);
      return false;
    });
    ++cycles_;
  }

 private:
  NetworkInterface& add_interface(NodeNumber number) {
    add(cycles_, number);
    NetworkInterface& ni = node(number).ni();
    ni.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm);
    ni.ctc2(Register::enable, 1);
    ni.rings_processor(bell(number));
    return ni;
  }
  void step(NodeNumber number) {
    Processor& processor = node(number);
    if (!hardware_.empty()) hardware_[number].step();
    processor.step();
    if (processor.has_nothing_to_do() && (hardware_.empty() || hardware_[number].has_nothing_to_do()))
      sleeps(number, now() + processor.until_timelet());
  }
  void add_network_waits(kit::Waits& waits) const override { mesh_.add_waits(waits); }
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return mesh_.under_way() != 0; }
  [[nodiscard]] bool all_sleep() const override {
    const auto awaits = [](const auto& processor) { return processor->awaits_timelet(); };
    return MachineOf::all_sleep() && mesh_.is_idle() && std::ranges::none_of(processors(), awaits);
  }

  Cycle cycles_ = 0;  // that all processors have made
  Mesh mesh_;
  std::vector<HardwareHandlers> hardware_;  // by node, or none
};

/// What a trace of a machine calls things.
[[nodiscard]] inline kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title),
          .messages = {"low", "high", "low multicast", "high multicast"},
          .activities = {"computes", "SEND", "dispatch", "handler", "HRET"}};
}

}  // namespace am::t1
