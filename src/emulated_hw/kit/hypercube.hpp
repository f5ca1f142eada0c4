// Hypercubes, and the way through them: a node at each corner of a box of 2 x 2 x ... . The bits of its number are where it is, so two
// nodes are next to each other where one bit differs. (As a Grid, a router would have two ports for each dimension, and one of them
// would lead nowhere.)
//
// Port 0 of a router leads to its node's network interface, port 1 + d across dimension d.
//
// The way is e-cube: across all dimensions in which here and there differ, the lowest first. That is dimension order (there is why no
// packets wait for each other in a circle), and no dimension is a ring.
// (H. Sullivan and T. R. Bashkow, A large scale, homogeneous, fully distributed parallel machine, 1977.)
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

#include "emulated_hw/kit/ports.hpp"

namespace am::kit {

class Hypercube {
 public:
  static constexpr unsigned most_dimensions = 16;

  /// Throws std::invalid_argument.
  explicit constexpr Hypercube(unsigned dimensions) : dimensions_(dimensions) {
    if (dimensions > most_dimensions) throw std::invalid_argument("a hypercube has at most 16 dimensions");
  }

  [[nodiscard]] constexpr NodeNumber nodes() const noexcept { return NodeNumber{1} << dimensions_; }
  [[nodiscard]] constexpr RouterNumber routers() const noexcept { return nodes(); }
  [[nodiscard]] constexpr unsigned dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] constexpr unsigned ports() const noexcept { return 1 + dimensions_; }
  static constexpr unsigned across(unsigned d) noexcept { return 1 + d; }
  static constexpr Place place_of(NodeNumber node) noexcept { return {node, 0}; }
  /// Who is next to it, or nowhere.
  static constexpr RouterNumber neighbour(RouterNumber router, unsigned port) noexcept {
    return port == 0 ? nowhere : router ^ (RouterNumber{1} << (port - 1));
  }
  /// The port of the neighbour at which a channel from this port ends.
  static constexpr unsigned opposite(RouterNumber, unsigned port) noexcept { return port; }

 private:
  unsigned dimensions_;
};

[[nodiscard]] constexpr Hop e_cube(RouterNumber here, NodeNumber there) noexcept {
  if (here == there) return {};
  return {Hypercube::across(static_cast<unsigned>(std::countr_zero(here ^ there)))};
}

/// All ports that lead nearer to `there`.
[[nodiscard]] constexpr Ports nearer_ports(const Hypercube&, RouterNumber here, NodeNumber there) noexcept {
  return (here ^ there) << Hypercube::across(0);
}

/// How many channels between routers lie on the way.
[[nodiscard]] constexpr unsigned distance(const Hypercube&, NodeNumber from, NodeNumber to) noexcept {
  return static_cast<unsigned>(std::popcount(from ^ to));
}

}  // namespace am::kit
