#include "emulated_hw/cm5/tree.hpp"

#include <algorithm>
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

std::vector<Tree::Router> Tree::routers() const {
  std::vector<Router> routers(shape_.routers());
  NodeNumber below = children;  // nodes below a router of the level
  unsigned level = 0;
  kit::RouterNumber first = 0;  // of the level
  for (kit::RouterNumber number = 0; number < routers.size(); ++number) {
    if (shape_.level_of(number) != level) {
      level = shape_.level_of(number);
      below *= children;
      first = number;
    }
    const kit::RouterNumber tops = level == 0 ? links : NodeNumber{1} << 2 * level;
    Router& router = routers[number];
    router.first = (number - first) / tops * below;
    router.bits_of_port = static_cast<std::uint8_t>(2 * level);
    if (router.first >= nodes_) continue;
    const NodeNumber part = below / children;
    const NodeNumber there = std::min(children, (nodes_ - router.first + part - 1) / part);
    router.down = static_cast<std::uint8_t>((1u << there) - 1);
    for (unsigned port = children; port < shape_.ports(); ++port) {
      if (shape_.neighbour(number, port) != kit::nowhere) router.up |= static_cast<std::uint8_t>(1u << port);
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
      if ((all[number].up >> port & 1) == 0) continue;
      connect({number, port}, {shape_.neighbour(number, port), shape_.opposite(number, port)});
    }
  }
  return wiring;
}

}  // namespace am::cm5
