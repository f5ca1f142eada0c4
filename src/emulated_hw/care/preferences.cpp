#include "emulated_hw/care/preferences.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace am::care {

using kit::Grid;

Preferences::List Preferences::closest_first(Ports direction, unsigned ports) {
  List list;
  for (const bool nearer : {true, false}) {
    for (PortNumber port = 1; port < ports; ++port) {
      if (((direction & port_bit(port)) != 0) == nearer) list.push_back(port);
    }
  }
  return list;
}

Preferences::List Preferences::nearer_only(Ports direction, unsigned ports) {
  List list = closest_first(direction, ports);
  list.resize(static_cast<std::size_t>(std::popcount(direction)));
  return list;
}

Preferences::List Preferences::one_only(Ports direction, unsigned ports) {
  return {closest_first(direction, ports).front()};
}

Preferences::Preferences(const kit::Topology& topology, const Strategy& strategy) : topology_(topology) {
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

const Preferences::List& Preferences::list(NodeNumber here, NodeNumber there) const {
  if (const auto* grid = std::get_if<Grid>(&topology_)) return lists_[kit::nearer_ports(*grid, here, there)];
  return lists_[kit::nearer_ports(std::get<kit::Hypercube>(topology_), here, there)];
}

}  // namespace am::care
