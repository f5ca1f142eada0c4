// A CNS-1: T1s on their mesh, under one clock.
//
//   Machine machine({.rows = 4, .columns = 4});
//   machine.node(0).run([](Processor& cpu) -> Program { ... });
//   machine.run_until([&] { return done; });
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/t1/hardware_handlers.hpp"
#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/processor.hpp"

namespace am::t1 {

class Machine {
 public:
  /// Events of all kinds but outlets are enabled on all nodes. Throws std::invalid_argument.
  explicit Machine(const Mesh::Shape& shape);

  /// Handlers in hardware, on all nodes, for as long as it runs: the report leaves them to the implementor (3.9). Once; the memories
  /// are of as many nodes, and outlive it.
  void add_hardware_handlers(Memories& memories);
  [[nodiscard]] const HardwareHandlers& hardware(NodeNumber node) const { return hardware_.at(node); }

  [[nodiscard]] Processor& node(NodeNumber node) { return *processors_[node]; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_.grid().nodes(); }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] Cycle now() const noexcept { return mesh_.now(); }
  /// A line for each message that waits; while none is under way, for each node that still has a program or a message.
  [[nodiscard]] std::string who_waits() const;

  /// Tells it from now on what happens, until it is told otherwise; before anything does. It outlives that.
  void record(kit::Trace* trace);

  /// One cycle. What has nothing to do is left out. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {});
  /// Until pred() holds; or until the machine cannot go on: then false, and who_waits() tells. That is so when for `patience` cycles
  ///   - nothing has moved in the network, with messages under way: a deadlock, or nodes that take nothing;
  ///   - no message has been under way, where all programs have ended and no timelet is to come;
  /// and for 100 times as long when no message has been under way, while programs have gone on by small steps, as one does that looks for
  /// an answer in a loop. (One that computes for longer says so by a step of more than `patience` cycles, or is given more of that.
  /// Timelets count alike.)
  template <class Pred>
  bool run_until(Pred pred, Cycle patience = 10'000) {
    busy_at_ = now();
    for (; !pred(); step()) {
      if (cannot_go_on(patience)) return false;
    }
    return true;
  }
  /// The same, and where run_until() would say false throws std::runtime_error: "t1: nothing has moved for ... cycles:", or "t1: no message
  /// has been under way for ... cycles:", and who waits for whom.
  template <class Pred>
  void run_or_throw(Pred pred, Cycle patience = 10'000) {
    if (!run_until(pred, patience)) throw_who_waits();
  }

 private:
  using Processors = std::vector<std::unique_ptr<Processor>>;
  static Processors made(NodeNumber nodes);
  static std::vector<NetworkInterface*> interfaces(const Processors& processors);

  void step(NodeNumber node);
  [[nodiscard]] bool cannot_go_on(Cycle patience);
  [[noreturn]] void throw_who_waits() const;
  void wake_for_timelets();

  Cycle cycles_ = 0;    // that all processors have made
  Cycle busy_at_ = 0;   // while no message is under way: when a program was last known to compute
  kit::NodeSet awake_;  // those that are not left out
  const Processors processors_;
  Mesh mesh_;
  std::vector<Cycle> alarm_;                // of one that is: the cycle in which its timelet comes
  Cycle first_alarm_ = 0;                   // not after any of these
  std::vector<HardwareHandlers> hardware_;  // by node, or none
};

/// What a trace of a machine calls things.
[[nodiscard]] kit::Trace::Names trace_names(std::string title);

}  // namespace am::t1
