// A CNS-1: T1s on their mesh, under one clock.
//
//   Machine machine({.rows = 4, .columns = 4});
//   machine.node(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_until([&] { return done; });
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/awake.hpp"
#include "emulated_hw/kit/machine.hpp"
#include "emulated_hw/t1/hardware_handlers.hpp"
#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/processor.hpp"

namespace am::t1 {

class Machine final : public kit::Machine {
 public:
  /// Events of all kinds but outlets are enabled on all nodes. Throws std::invalid_argument.
  explicit Machine(const Mesh::Shape& shape);

  /// Handlers in hardware, on all nodes, for as long as it runs: the report leaves them to the implementor (3.9). Once; the memories
  /// are of as many nodes, and outlive it.
  void add_hardware_handlers(Memories& memories);
  [[nodiscard]] const HardwareHandlers& hardware(NodeNumber node) const { return hardware_.at(node); }

  [[nodiscard]] Processor& node(NodeNumber node) { return processors_[node]; }
  /// The same code on all nodes.
  void place(Address at, const Processor::Code& code) {
    for (Processor& processor : processors_) processor.place(at, code);
  }
  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_.grid().nodes(); }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] Cycle now() const noexcept override { return mesh_.now(); }
  [[nodiscard]] std::string who_waits() const override;

  /// Tells it from now on what happens, until it is told otherwise; before anything does. It outlives that.
  void record(kit::Trace* trace);

  void step(std::span<const NodeNumber> order = {}) override;

 private:
  using Processors = std::deque<Processor>;
  static Processors made(NodeNumber nodes);

  void step(NodeNumber node);
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  [[nodiscard]] bool messages_are_under_way() const override { return mesh_.under_way() != 0; }
  [[nodiscard]] bool all_sleep() const override;
  [[nodiscard]] bool is_busy_for(Cycle cycles) const override;

  Cycle cycles_ = 0;  // that all processors have made
  kit::Awake awake_;
  Processors processors_;
  Mesh mesh_;
  std::vector<HardwareHandlers> hardware_;  // by node, or none
};

/// What a trace of a machine calls things.
[[nodiscard]] kit::Trace::Names trace_names(std::string title);

}  // namespace am::t1
