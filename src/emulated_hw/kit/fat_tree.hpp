// Fat trees, and the way through them: nodes are the leaves, and a router of each level has several parents, so that there are many roots
// and no link near them has to carry what all below it send. Any number of children and parents at each level (S. Oehring and others,
// On generalized fat trees, 1995): with k of both, but one parent for a node, it is the k-ary n-tree (F. Petrini and M. Vanneschi, 1997),
// BookSim2's `fattree`; with four children, and two parents for nodes and for routers of the lowest level, four above, it is one of the
// CM-5's two networks (T. von Eicken, 1993, Figure 3-9).
//
// Where things are. A router has two coordinates in its level: at the top of which subtree it is, and which of that subtree's tops. Of a
// subtree with `ways` tops, the parent of top t by port b is top b * ways + t of the subtree around it: so each has one link to each of
// the tops of that.
//
// Ports of a router: first one for each child, then one for each parent. Routers are numbered level by level from below, in
// a level subtree by subtree.
//
// The way is up to where the other node is below, by any parents at all, and then down, where there is one way only. Why no packets wait
// for each other in a circle: what goes up waits for a channel further up, or for one down; what goes down waits for one further down.
// Which parent is taken is not said here: a machine picks one at random (`one_of`), or of those whose channel is idle, or, to keep
// packets in order, by where they go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "emulated_hw/kit/ports.hpp"

namespace am::kit {

class FatTree {
 public:
  /// From below.
  struct Level {
    std::uint32_t children = 1;  ///< of each router of this level
    std::uint32_t parents = 1;   ///< of each of these children
  };
  static constexpr unsigned most_levels = 16;
  static constexpr unsigned most_ports = 32;
  static constexpr NodeNumber most_nodes = 1 << 16;
  static constexpr RouterNumber most_routers = 1 << 16;

  /// Throws std::invalid_argument.
  explicit constexpr FatTree(std::span<const Level> levels) : levels_(static_cast<unsigned>(levels.size())) {
    if (levels.empty() || levels.size() > most_levels)
      throw std::invalid_argument("a fat tree has 1 to 16 levels");
    for (const Level& level : levels) {
      if (level.children == 0 || level.children > most_nodes / nodes_)
        throw std::invalid_argument("a fat tree has no nodes, or more than 65536");
      nodes_ *= level.children;
    }
    std::uint64_t subtrees = nodes_;
    std::uint64_t ways = 1;
    for (unsigned i = 0; i < levels_; ++i) {
      const auto [children, parents] = levels[i];
      subtrees /= children;
      ways *= parents;
      if (ways == 0 || ways > most_routers || routers_ + subtrees * ways > most_routers)
        throw std::invalid_argument("a fat tree has no routers, or more than 65536");
      const std::uint32_t up = i + 1 < levels_ ? levels[i + 1].parents : 0;
      if (children > most_ports || up > most_ports - children)
        throw std::invalid_argument("a router of a fat tree has more than 32 ports");
      if (children + up > ports_) ports_ = children + up;
      at_[i] = {.children = children,
                .up = up,
                .nodes = nodes_ / static_cast<std::uint32_t>(subtrees),
                .ways = static_cast<std::uint32_t>(ways),
                .ways_below = static_cast<std::uint32_t>(ways / parents),
                .first = routers_};
      routers_ += static_cast<RouterNumber>(subtrees * ways);
    }
  }
  /// BookSim2's: k children and k parents, n levels. Throws std::invalid_argument.
  [[nodiscard]] static constexpr FatTree k_ary(unsigned k, unsigned n) {
    if (k < 2) throw std::invalid_argument("a fat tree has k of at least 2");
    if (n == 0 || n > most_levels) throw std::invalid_argument("a fat tree has 1 to 16 levels");
    std::array<Level, most_levels> levels{};
    levels.fill({k, k});
    levels[0].parents = 1;
    return FatTree(std::span(levels).first(n));
  }

  [[nodiscard]] constexpr NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] constexpr RouterNumber routers() const noexcept { return routers_; }
  [[nodiscard]] constexpr unsigned levels() const noexcept { return levels_; }
  /// Of the router that has most.
  [[nodiscard]] constexpr unsigned ports() const noexcept { return ports_; }
  /// How many routers a node has a link to.
  [[nodiscard]] constexpr unsigned links_of_node() const noexcept { return at_[0].ways; }
  /// 0 is next to nodes.
  [[nodiscard]] constexpr unsigned level_of(RouterNumber router) const noexcept {
    unsigned level = levels_ - 1;
    while (router < at_[level].first) --level;
    return level;
  }
  /// The other end of one of a node's links, of which there are links_of_node().
  [[nodiscard]] constexpr Place place_of(NodeNumber node, unsigned link = 0) const noexcept {
    return {node / at_[0].children * at_[0].ways + link, node % at_[0].children};
  }
  /// The router at the other end, or nowhere: it is a node, or there is none.
  [[nodiscard]] constexpr RouterNumber neighbour(RouterNumber router, unsigned port) const noexcept {
    return far_end(router, port).router;
  }
  /// The port of the neighbour at which a channel from this port ends.
  [[nodiscard]] constexpr unsigned opposite(RouterNumber router, unsigned port) const noexcept {
    return far_end(router, port).port;
  }
  /// The lowest level with routers that have both of these nodes below.
  [[nodiscard]] constexpr unsigned level_above(NodeNumber one, NodeNumber other) const noexcept {
    unsigned level = 0;
    while (one / at_[level].nodes != other / at_[level].nodes) ++level;
    return level;
  }
  /// By which ports a packet may go on: one down where that node is below, else all that lead up.
  [[nodiscard]] constexpr Ports ports_to(RouterNumber here, NodeNumber there) const noexcept {
    const unsigned level = level_of(here);
    const At& at = at_[level];
    if (there / at.nodes != (here - at.first) / at.ways) return ports_from(at.children, at.up);
    const std::uint32_t nodes_below = level == 0 ? 1 : at_[level - 1].nodes;
    return port_bit(there / nodes_below % at.children);
  }

 private:
  struct At {                      // a level
    std::uint32_t children = 0;    // of a router
    std::uint32_t up = 0;          // parents of a router
    std::uint32_t nodes = 0;       // of a subtree
    std::uint32_t ways = 0;        // routers at the top of it
    std::uint32_t ways_below = 0;  // the same one level lower
    RouterNumber first = 0;
  };
  static constexpr Ports ports_from(unsigned first, unsigned count) noexcept {
    return static_cast<Ports>(((std::uint64_t{1} << count) - 1) << first);
  }
  [[nodiscard]] constexpr Place far_end(RouterNumber router, unsigned port) const noexcept {
    const unsigned level = level_of(router);
    const At& at = at_[level];
    const std::uint32_t subtree = (router - at.first) / at.ways;
    const std::uint32_t top = (router - at.first) % at.ways;
    if (port < at.children) {
      if (level == 0) return {};
      const At& below = at_[level - 1];
      return {below.first + (subtree * at.children + port) * below.ways + top % below.ways,
              below.children + top / below.ways};
    }
    if (port >= at.children + at.up) return {};
    const At& above = at_[level + 1];
    return {above.first + subtree / above.children * above.ways + (port - at.children) * at.ways + top,
            subtree % above.children};
  }

  std::array<At, most_levels> at_{};
  unsigned levels_;
  NodeNumber nodes_ = 1;
  RouterNumber routers_ = 0;
  unsigned ports_ = 0;
};

/// How many channels between routers lie on the way: as many by whatever parents it goes.
[[nodiscard]] constexpr unsigned distance(const FatTree& tree, NodeNumber from, NodeNumber to) noexcept {
  return 2 * tree.level_above(from, to);
}

}  // namespace am::kit
