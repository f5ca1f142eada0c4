// The preference table of a CARE router: which net-outputs it considers for a target, in which order (Byrd, Nakano and Delagi 1987, 4.6, 5.4).
// The table is the routing strategy.
//
// The logical direction of a target is, in a grid or torus, for each dimension here, up or down, by comparisons; in a hypercube the bits that
// differ. Another topology is one more way to number directions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulated_hw/kit/topology.hpp"

namespace am::care {

using kit::NodeNumber;

/// Of a net-input or net-output: the topology's port. Of the pair to the operator: local.
using PortNumber = std::uint8_t;
inline constexpr PortNumber local = 0;

class Preferences {
 public:
  using List = std::vector<PortNumber>;
  /// What a user's own strategy says of a direction, which `there` is an example of, seen from `here`.
  using Strategy = std::function<List(const kit::Topology&, NodeNumber here, NodeNumber there)>;

  /// "Try all net-outputs, starting with the closest to the target".
  [[nodiscard]] static List closest_first(const kit::Topology& topology, NodeNumber here, NodeNumber there);
  /// "Try only one net-output (static routing)": the first dimension first.
  [[nodiscard]] static List one_only(const kit::Topology& topology, NodeNumber here, NodeNumber there);

  /// Of a grid or a hypercube. Throws std::invalid_argument where it is neither, or a list names an output that there is not.
  Preferences(const kit::Topology& topology, const Strategy& strategy);

  [[nodiscard]] const kit::Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] std::uint32_t direction(NodeNumber here, NodeNumber there) const;
  [[nodiscard]] const List& list(std::uint32_t direction) const { return lists_.at(direction); }

 private:
  const kit::Topology topology_;
  const kit::FastTopology fast_;
  std::vector<List> lists_;  // by direction
};

}  // namespace am::care
