#include "emulated_hw/care/preferences.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace am::care {

namespace {

using kit::Grid;
using kit::Hypercube;

/// Where both ways round are as long: up.
bool goes_up(const Grid::Dimension& dimension, std::uint32_t at, std::uint32_t to) noexcept {
  if (!dimension.wraps) return at < to;
  return kit::way_round(at, to, dimension.extent, [] { return true; }).goes_up;
}

template <class AnyGrid>
std::uint32_t grid_direction(const AnyGrid& grid, NodeNumber here, NodeNumber there) {
  std::uint32_t direction = 0;
  for (unsigned d = grid.dimensions(); d-- != 0;) {
    const std::uint32_t at = grid.at(here, d);
    const std::uint32_t to = grid.at(there, d);
    direction = 3 * direction + (at == to ? 0 : goes_up(grid.dimension(d), at, to) ? 1 : 2);
  }
  return direction;
}

kit::Topology checked(const kit::Topology& topology) {
  if (std::holds_alternative<kit::FatTree>(topology))
    throw std::invalid_argument("care: its sites are on a grid or a hypercube");
  return topology;
}

std::size_t directions_of(const kit::Topology& topology) {
  if (const auto* cube = std::get_if<Hypercube>(&topology)) return cube->nodes();
  std::size_t all = 1;
  for (unsigned d = 0; d < std::get<Grid>(topology).dimensions(); ++d) all *= 3;
  return all;
}

/// By how much a port leads nearer, in the directions of a grid or a cube: the same at each site.
int gain(const kit::Topology& topology, NodeNumber here, NodeNumber there, unsigned port) {
  if (const auto* cube = std::get_if<Hypercube>(&topology)) {
    const auto d = port - Hypercube::across(0);
    return d < cube->dimensions() && ((here ^ there) >> d & 1) != 0 ? 1 : -1;
  }
  const Grid& grid = std::get<Grid>(topology);
  const unsigned d = (port - 1) / 2;
  const std::uint32_t at = grid.at(here, d);
  const std::uint32_t to = grid.at(there, d);
  if (at == to) return -1;
  return goes_up(grid.dimension(d), at, to) == (port == Grid::up(d)) ? 1 : -1;
}

}  // namespace

Preferences::List Preferences::closest_first(const kit::Topology& topology, NodeNumber here,
                                             NodeNumber there) {
  List list;
  for (unsigned port = 1; port < kit::ports_of(topology); ++port)
    list.push_back(static_cast<PortNumber>(port));
  std::ranges::stable_sort(list, [&](PortNumber a, PortNumber b) {
    return gain(topology, here, there, a) > gain(topology, here, there, b);
  });
  return list;
}

Preferences::List Preferences::one_only(const kit::Topology& topology, NodeNumber here, NodeNumber there) {
  return {closest_first(topology, here, there).front()};
}

Preferences::Preferences(const kit::Topology& topology, const Strategy& strategy)
    : topology_(checked(topology)), fast_(kit::fast(topology_)), lists_(directions_of(topology_)) {
  const NodeNumber nodes = kit::nodes_of(topology_);
  std::size_t left = lists_.size() - 1;  // of the direction of a site itself there is no list
  for (NodeNumber here = 0; here < nodes && left != 0; ++here) {
    for (NodeNumber there = 0; there < nodes && left != 0; ++there) {
      List& list = lists_[direction(here, there)];
      if (here == there || !list.empty()) continue;
      list = strategy(topology_, here, there);
      --left;
      const bool is_good = !list.empty() && std::ranges::all_of(list, [&](PortNumber port) {
        return port != local && port < kit::ports_of(topology_);
      });
      if (!is_good)
        throw std::invalid_argument("care: a list of a preference table names no output that there is");
    }
  }
}

std::uint32_t Preferences::direction(NodeNumber here, NodeNumber there) const {
  if (const auto* grid = std::get_if<kit::MappedGrid>(&fast_)) return grid_direction(*grid, here, there);
  return here ^ there;
}

}  // namespace am::care
