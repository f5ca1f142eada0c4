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
  for (Ports direction = 2; direction < lists_.size(); direction += 2) {
    lists_[direction] = strategy(direction, ports);
    const auto is_output = [&](PortNumber port) { return port != local && port < ports; };
    if (lists_[direction].empty() || !std::ranges::all_of(lists_[direction], is_output))
      throw std::invalid_argument("care: a list of the preference table names no output that there is");
  }
}

Ports Preferences::direction(NodeNumber here, NodeNumber there) const {
  const auto* grid = std::get_if<Grid>(&topology_);
  if (grid == nullptr) return (here ^ there) << kit::Hypercube::across(0);
  Ports direction = 0;
  for (unsigned d = 0; d < grid->dimensions(); ++d) {
    const auto [extent, wraps] = grid->dimension(d);
    const std::uint32_t at = grid->at(here, d);
    const std::uint32_t to = grid->at(there, d);
    if (at == to) continue;
    const bool up = wraps ? kit::way_round(at, to, extent, [] { return true; }).goes_up : at < to;
    direction |= port_bit(up ? Grid::up(d) : Grid::down(d));
  }
  return direction;
}

}  // namespace am::care
