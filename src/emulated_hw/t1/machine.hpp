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

#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/processor.hpp"

namespace am::t1 {

class Machine {
 public:
  /// Events of all kinds but outlets are enabled on all nodes. Throws std::invalid_argument.
  explicit Machine(const Mesh::Shape& shape)
      : processors_(made(shape.rows * shape.columns)), mesh_(shape, interfaces(processors_)) {}

  [[nodiscard]] Processor& node(NodeNumber node) { return *processors_[node]; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return mesh_.grid().nodes(); }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] Cycle now() const noexcept { return mesh_.now(); }
  [[nodiscard]] std::string who_waits() const { return mesh_.who_waits(); }

  /// One cycle. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {});
  /// Until pred() holds. False, and nothing has moved in the network for `patience` cycles with messages in it, when it does not: a
  /// deadlock, or nodes that take nothing. who_waits() tells.
  template <class Pred>
  bool run_until(Pred pred, Cycle patience = 10'000) {
    while (!pred()) {
      step();
      if (mesh_.under_way() != 0 && mesh_.still_for() > patience) return false;
    }
    return true;
  }

 private:
  using Processors = std::vector<std::unique_ptr<Processor>>;
  static Processors made(NodeNumber nodes);
  static std::vector<NetworkInterface*> interfaces(const Processors& processors);

  const Processors processors_;
  Mesh mesh_;
};

}  // namespace am::t1
