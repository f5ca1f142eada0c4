// The preference table of a CARE router: which net-outputs it considers for a target, in which order (Byrd, Nakano and Delagi 1987, 4.6, 5.4).
// The table is the routing strategy.
//
// A list for each logical direction: the ports that lead nearer to a target, in a grid by comparisons, in a hypercube by exclusive or.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>
#include <vector>

#include "emulated_hw/kit/topology.hpp"

namespace am::care {

using kit::NodeNumber;
using kit::port_bit;
using kit::Ports;

/// Of a net-input or net-output: the topology's port. Of the pair to the operator: local.
using PortNumber = unsigned;
inline constexpr PortNumber local = 0;

class Preferences {
 public:
  using List = std::vector<PortNumber>;
  /// A user's own is one more: the list for a direction, where sites have so many ports.
  using Strategy = std::function<List(Ports direction, unsigned ports)>;

  /// "Try all net-outputs, starting with the closest to the target": those that lead nearer, by number, and then the others.
  /// Away from its target a packet may run in a circle for ever, behind its own words, which have the outputs that it would prefer.
  [[nodiscard]] static List closest_first(Ports direction, unsigned ports) {
    List list;
    for (const bool nearer : {true, false}) {
      for (PortNumber port = 1; port < ports; ++port) {
        if (((direction & port_bit(port)) != 0) == nearer) list.push_back(port);
      }
    }
    return list;
  }
  /// Not in the text: only those that lead nearer.
  [[nodiscard]] static List nearer_only(Ports direction, unsigned ports) {
    List list = closest_first(direction, ports);
    list.resize(static_cast<std::size_t>(std::popcount(direction)));
    return list;
  }
  /// "Try only one net-output (static routing)": the first that leads nearer.
  [[nodiscard]] static List one_only(Ports direction, unsigned ports) {
    return {closest_first(direction, ports).front()};
  }

  /// Of a grid or a hypercube of at most 20 ports. Throws std::invalid_argument where it is none, or a list names no output that there is.
  Preferences(const kit::Topology& topology, const Strategy& strategy) : topology_(topology) {
    const unsigned ports = kit::ports_of(topology);
    if (std::holds_alternative<kit::FatTree>(topology) || ports > 20)
      throw std::invalid_argument("care: its sites are on a grid or a hypercube of at most 20 ports");
    lists_.resize(std::size_t{1} << ports);
    lists_[0] = {local};
    for (Ports direction = 2; direction < lists_.size(); direction += 2) {
      lists_[direction] = strategy(direction, ports);
      const auto is_output = [&](PortNumber port) { return port != local && port < ports; };
      if (lists_[direction].empty() || !std::ranges::all_of(lists_[direction], is_output))
        throw std::invalid_argument("care: a list of the preference table names no output that there is");
    }
  }

  [[nodiscard]] const kit::Topology& topology() const noexcept { return topology_; }
  /// Of a site, for a target; for itself the local one alone.
  [[nodiscard]] const List& list(NodeNumber here, NodeNumber there) const {
    if (const auto* grid = std::get_if<kit::Grid>(&topology_))
      return lists_[kit::nearer_ports(*grid, here, there)];
    return lists_[kit::nearer_ports(std::get<kit::Hypercube>(topology_), here, there)];
  }

 private:
  const kit::Topology topology_;
  std::vector<List> lists_;  // by direction
};

}  // namespace am::care
