// The nCUBE/2's live network, and nodes that count what comes.
#pragma once

#include "emulated_hw/ncube2/live_cube.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

namespace test {

using namespace am::ncube2;

class LiveNetwork final : public LiveNetworkOf<LiveCube, Counted, kinds_of_counted> {
 public:
  explicit LiveNetwork(unsigned dimensions) : LiveNetworkOf(NodeNumber{1} << dimensions, dimensions) {}

  /// Puts it in where it comes from, and carries it.
  [[nodiscard]] bool send(const LiveMessage& message) {
    if (!mesh_.inject(message.source, message)) return false;
    mesh_.carry(message.source, message);
    return true;
  }
  /// Messages that have come by links of that node's router, and by these kinds of channels.
  [[nodiscard]] std::uint64_t came(NodeNumber node, unsigned first, unsigned channels) const {
    std::uint64_t all = 0;
    for (unsigned i = 0; i < channels; ++i) all += mesh_.router(node).inputs[first + i].flits;
    return all;
  }
};

}  // namespace test
