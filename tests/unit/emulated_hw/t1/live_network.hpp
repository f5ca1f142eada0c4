// The CNS-1's live network, and nodes that count what comes.
#pragma once

#include "emulated_hw/t1/live_mesh.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

namespace test {

using namespace am::t1;

class LiveNetwork final : public LiveNetworkOf<LiveMesh, Counted, kinds_of_counted> {
 public:
  explicit LiveNetwork(const Shape& shape) : LiveNetworkOf(shape.rows * shape.columns, shape) {}

  using LiveNetworkOf::count;
  using LiveNetworkOf::shown;
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Priority priority) const {
    return shown(at, from, counted(priority));
  }
  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Priority priority) {
    return count(at, from, counted(priority));
  }
  /// Puts it in where it comes from, and carries it.
  [[nodiscard]] bool send(Priority priority, const Carried& message) {
    if (!mesh_.inject(message.source, priority, message)) return false;
    mesh_.carry(message.source, priority);
    return true;
  }
  /// Nothing has been let into any channel that has not left it.
  [[nodiscard]] bool is_empty() const {
    for (NodeNumber node = 0; node < nodes_; ++node) {
      for (const am::kit::LiveChannel& input : mesh_.router(node).inputs) {
        if (am::kit::Entry{input.entries.load()}.beyond(input.left.load()) != 0) return false;
      }
    }
    return true;
  }
};

}  // namespace test
