#include "emulated_hw/cm5/tree.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <string>

namespace am::cm5 {

namespace {

constexpr std::array<kit::FatTree::Level, 5> levels{{{4, 2}, {4, 2}, {4, 4}, {4, 4}, {4, 4}}};

kit::FatTree smallest_of(NodeNumber nodes) {
  if (nodes < 2 || nodes > Tree::most_nodes)
    throw std::invalid_argument("cm5: a network of " + std::to_string(nodes) + " nodes: 2 to " +
                                std::to_string(Tree::most_nodes));
  std::size_t count = 1;
  for (NodeNumber leaves = Tree::children; leaves < nodes; leaves *= Tree::children) ++count;
  return kit::FatTree(std::span(levels).first(count));
}

}  // namespace

Tree::Tree(NodeNumber nodes) : nodes_(nodes), shape_(smallest_of(nodes)) {}

/// Level by level: so those below one have been made.
std::vector<Tree::Router> Tree::routers() const {
  std::vector<Router> routers(shape_.routers());
  for (kit::RouterNumber number = 0; number < routers.size(); ++number) {
    Router& its = routers[number];
    const unsigned level = shape_.level_of(number);
    its.bits_of_port = static_cast<std::uint8_t>(2 * level);
    its.first = level == 0 ? number / links * children : routers[shape_.neighbour(number, 0)].first;
    if (its.first >= nodes_) continue;
    for (unsigned port = 0; port < shape_.ports(); ++port) {
      const kit::RouterNumber there = shape_.neighbour(number, port);
      const bool is_child = port < children;
      const bool is_node = level == 0 && is_child;
      if (is_node ? its.first + port >= nodes_ : there == kit::nowhere) continue;
      if (!is_node && is_child && routers[there].down == 0) continue;
      (is_child ? its.down : its.up) |= static_cast<std::uint8_t>(1u << port);
      if (is_node) continue;
      its.router[port] = static_cast<std::uint16_t>(there);
      its.port[port] = static_cast<std::uint8_t>(shape_.opposite(number, port));
    }
  }
  return routers;
}

kit::Wiring Tree::wiring(unsigned flit_cycles) const {
  kit::Wiring wiring(shape_.routers(), nodes_);
  const auto connect = [&](const kit::Wire::End& one, const kit::Wire::End& other) {
    wiring.connect({one, other, flit_cycles});
    wiring.connect({other, one, flit_cycles});
  };
  for (NodeNumber node = 0; node < nodes_; ++node) {
    for (unsigned link = 0; link < links; ++link) {
      const kit::Place above = shape_.place_of(node, link);
      connect({wiring.node(node), link}, {above.router, above.port});
    }
  }
  const std::vector<Router> all = routers();
  for (kit::RouterNumber number = 0; number < all.size(); ++number) {
    for (unsigned port = children; port < shape_.ports(); ++port) {
      if (all[number].has(port)) connect({number, port}, {all[number].router[port], all[number].port[port]});
    }
  }
  return wiring;
}

}  // namespace am::cm5
