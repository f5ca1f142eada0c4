// What a network of routers asks of a topology: who is next to whom by which port (of the topology itself), how many classes of virtual
// channels there have to be, the next hop, and how far it is. One more topology is a class, these three functions, and a place in the
// list.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/fat_tree.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/hypercube.hpp"
#include "emulated_hw/kit/names.hpp"

namespace am::kit {

using Topology = std::variant<Grid, Hypercube, FatTree>;

inline constexpr std::array<std::string_view, 4> topologies{"mesh", "torus", "hypercube", "fattree"};
/// BookSim2's names: mesh and torus of k^n nodes, fattree of k^n, and hypercube of 2^n. Throws std::invalid_argument.
[[nodiscard]] inline Topology topology_named(std::string_view name, unsigned k, unsigned n) {
  if (n == 0) throw std::invalid_argument("n has to be at least 1");
  if (name == "hypercube") return Hypercube(n);
  if (name == "fattree") return FatTree::k_ary(k, n);
  static_cast<void>(index_of_name("topology", name, topologies));
  return Grid(std::vector<Grid::Dimension>(n, {.extent = k, .wraps = name == "torus"}));
}

[[nodiscard]] constexpr unsigned vc_classes(const Hypercube&) noexcept { return 1; }
[[nodiscard]] constexpr unsigned vc_classes(const FatTree&) noexcept { return 1; }

/// The next hop of a packet to `there`. `random()` is called where there is more than one way, and gives any number of 32 bits.
template <class Random>
[[nodiscard]] Hop next_hop(const Grid& grid, RouterNumber here, Came came, NodeNumber there,
                           Random&& random) noexcept {
  return ring_order(grid, here, came, there, [&] { return random() >> 31 == 0; });
}
template <class Random>
[[nodiscard]] constexpr Hop next_hop(const Hypercube&, RouterNumber here, Came, NodeNumber there,
                                     Random&&) noexcept {
  return e_cube(here, there);
}
template <class Random>
[[nodiscard]] constexpr Hop next_hop(const FatTree& tree, RouterNumber here, Came, NodeNumber there,
                                     Random&& random) noexcept {
  return {one_of(tree.ports_to(here, there), random())};
}

// The same of any of them.
[[nodiscard]] inline NodeNumber nodes_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.nodes(); }, topology);
}
[[nodiscard]] inline RouterNumber routers_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.routers(); }, topology);
}
/// Of the router that has most.
[[nodiscard]] inline unsigned ports_of(const Topology& topology) {
  return std::visit([](const auto& one) { return one.ports(); }, topology);
}
[[nodiscard]] inline RouterNumber neighbour(const Topology& topology, RouterNumber router, unsigned port) {
  return std::visit([=](const auto& one) { return one.neighbour(router, port); }, topology);
}
/// The port there at which that channel ends.
[[nodiscard]] inline unsigned opposite(const Topology& topology, RouterNumber router, unsigned port) {
  return std::visit([=](const auto& one) { return one.opposite(router, port); }, topology);
}
[[nodiscard]] inline Place place_of(const Topology& topology, NodeNumber node) {
  return std::visit([=](const auto& one) { return one.place_of(node); }, topology);
}
/// Whether that holds of the other end of one of a node's links.
template <class F>
bool any_place_of(const Topology& topology, NodeNumber node, F holds) {
  const auto* tree = std::get_if<FatTree>(&topology);
  if (tree == nullptr) return holds(place_of(topology, node));
  for (unsigned link = 0; link < tree->links_of_node(); ++link) {
    if (holds(tree->place_of(node, link))) return true;
  }
  return false;
}
[[nodiscard]] inline unsigned vc_classes(const Topology& topology) {
  return std::visit([](const auto& one) { return vc_classes(one); }, topology);
}
[[nodiscard]] inline unsigned distance(const Topology& topology, NodeNumber from, NodeNumber to) {
  return std::visit([=](const auto& one) { return distance(one, from, to); }, topology);
}

}  // namespace am::kit
