// What messages cost on a CNS-1, measured by programs that do nothing else: on one node, over every number of hops, to many nodes. Each
// figure is of a machine of its own, and the same in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "emulated_hw/t1/machine.hpp"

namespace amsim::t1 {

using namespace am::t1;

// -- on a processor (T1 report, 3.4, 3.8, 3.10) -------------------------------------------------------------------------

struct MessageCosts {
  Cycle send = 0;
  Cycle dispatch = 0;  ///< to the handler's first instruction
  Cycle hret = 0;
};
[[nodiscard]] MessageCosts message_costs(const Send& what);
/// Of a SEND that the network does not accept.
[[nodiscard]] Cycle failed_send_cost(const Send& what);
/// Figure 8: of entering and leaving it, and of a poll that finds nothing.
[[nodiscard]] Cycle critical_section_cost();
[[nodiscard]] Cycle poll_cost();

// -- over the network ---------------------------------------------------------------------------------------------------

/// A message of n flits that meets no other (mesh.hpp).
[[nodiscard]] constexpr Cycle in_network(unsigned hops, unsigned flits) noexcept {
  return Mesh::link_cycles + (hops + 1) * (Mesh::router_cycles + Mesh::link_cycles) + flits - 1;
}
[[nodiscard]] unsigned flits_of(const Send& what) noexcept;  ///< with a whole vector, if with one
/// A node at every distance from node 0: the first is one link away.
[[nodiscard]] std::vector<NodeNumber> one_at_each_distance(const Mesh::Shape& shape);

/// From before the SEND of node 0 until the handler's first instruction. All of these throw std::invalid_argument as Mesh does, and
/// std::runtime_error when the machine stands still.
[[nodiscard]] Cycle one_way(const Mesh::Shape& shape, NodeNumber to, const Send& what);
/// The same, there and back: a reply of the same length.
[[nodiscard]] Cycle round_trip(const Mesh::Shape& shape, NodeNumber to, const Send& what);
/// What a round trip is made of when nothing is in its way.
[[nodiscard]] Cycle round_trip_parts(unsigned hops, const Send& what) noexcept;

/// One message after the other from node 0, as fast as they are accepted; handlers do nothing.
struct Flood {
  double cycles_per_message = 0;
  double flits_per_cycle = 0;
};
[[nodiscard]] Flood flood(const Mesh::Shape& shape, NodeNumber to, const Send& what);

// -- to many (3.9) --------------------------------------------------------------------------------------------------------

/// Node 0 and the nodes after it in its row and its column: all of them but node 0 are sent to. Along a row that wraps, more than half of
/// its nodes are reached by two multicasts, one each way.
struct Patch {
  unsigned rows = 1;
  unsigned columns = 1;
};
struct Distribution {
  Cycle took = 0;               ///< from before the first SEND until the last handler's first instruction
  std::uint64_t receivers = 0;  ///< handlers that ran
  std::uint64_t flits = 0;      ///< over links between routers
};
/// One message to each, the farthest first.
[[nodiscard]] Distribution send_to_each(const Mesh::Shape& shape, const Patch& patch, const Send& what);
/// Figure 9: along the column, and by each of the column along its row. The second phase has high priority: who sends it is a handler of
/// low priority, and may wait (3.5).
[[nodiscard]] Distribution multicast(const Mesh::Shape& shape, const Patch& patch, const Send& what);
/// From node 0 to itself, all the way round its row: "another possibility is to modify the routers".
[[nodiscard]] Distribution multicast_round(const Mesh::Shape& shape, const Send& what);

}  // namespace amsim::t1
