// Dimension-order routing: all of the way in the first dimension, then the next. A function of here and the header alone, so that
// packets between two nodes take one way and stay in order (T1 report, section 3.3).
//
// Why no packets wait for each other in a circle: between dimensions the order itself sees to that. Around a ring of a dimension
// that wraps there are two classes of channels. A packet that has still to pass the edge is on class 0, one that has not is on
// class 1; so class 0 is left at the edge, and class 1 never passes it.
// (W. J. Dally and C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987.)
//
// ring_order() has the same ways, and BookSim2's classes: a packet gets its class where it enters a ring, 1 if it will pass the edge,
// and keeps it on that ring. So class 0 never passes the edge. Class 1 does, but no packet goes further than half way round: those that
// go up over the edge of a ring of k end at k / 2 - 1 or before, and begin at k - k / 2 or behind. So the channel up from k / 2 - 1
// carries none of class 1, and the circle is open there; down, it is the same from the other side.
#pragma once

#include "emulated_hw/kit/grid.hpp"

namespace am::kit {

/// How many classes of virtual channels there have to be on such a grid.
[[nodiscard]] inline unsigned vc_classes(const Grid& grid) noexcept {
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    if (grid.dimension(d).wraps && grid.dimension(d).extent > 1) return 2;
  }
  return 1;
}

/// The way round a ring of that extent.
struct WayRound {
  bool goes_up;
  bool passes_edge;
};
/// The shorter one; `up_on_tie()` decides where both are as long. `at` and `to` differ.
template <class Tie>
[[nodiscard]] constexpr WayRound way_round(std::uint32_t at, std::uint32_t to, std::uint32_t extent,
                                           Tie&& up_on_tie) noexcept {
  const std::uint32_t above = at < to ? to - at : to + extent - at;
  const bool goes_up = above * 2 == extent ? up_on_tie() : above * 2 < extent;
  return {goes_up, goes_up ? at > to : at < to};
}

/// The next hop to `there`. The shorter way round; where both are as long, the half of the nodes goes up.
[[nodiscard]] inline Hop dimension_order(const Grid& grid, NodeNumber here, NodeNumber there) noexcept {
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const std::uint32_t at = grid.at(here, d);
    const std::uint32_t to = grid.at(there, d);
    if (at == to) continue;
    const auto [extent, wraps] = grid.dimension(d);
    if (!wraps) return {at < to ? Grid::up(d) : Grid::down(d)};
    const auto [goes_up, passes_edge] = way_round(at, to, extent, [=] { return at % 2 == 0; });
    return {goes_up ? Grid::up(d) : Grid::down(d), passes_edge ? 0b01u : 0b10u};
  }
  return {};
}

/// The same with the other classes. It depends on how the packet came here, too: it goes straight on round a ring. Where both ways round
/// are as long, `toss()` says whether it goes up.
template <class Coin>
[[nodiscard]] Hop ring_order(const Grid& grid, NodeNumber here, Came came, NodeNumber there,
                             Coin&& toss) noexcept {
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const std::uint32_t at = grid.at(here, d);
    const std::uint32_t to = grid.at(there, d);
    if (at == to) continue;
    const auto [extent, wraps] = grid.dimension(d);
    if (!wraps) return {at < to ? Grid::up(d) : Grid::down(d)};
    if (came.port == Grid::up(d) || came.port == Grid::down(d))
      return {Grid::opposite(came.port), 1u << came.vc_class};
    const auto [goes_up, passes_edge] = way_round(at, to, extent, toss);
    return {goes_up ? Grid::up(d) : Grid::down(d), passes_edge ? 0b10u : 0b01u};
  }
  return {};
}

/// All ports that lead nearer to `there`; up, where both ways round are as long.
[[nodiscard]] inline Ports nearer_ports(const Grid& grid, NodeNumber here, NodeNumber there) noexcept {
  Ports nearer = 0;
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const std::uint32_t at = grid.at(here, d);
    const std::uint32_t to = grid.at(there, d);
    if (at == to) continue;
    const auto [extent, wraps] = grid.dimension(d);
    const bool up = wraps ? way_round(at, to, extent, [] { return true; }).goes_up : at < to;
    nearer |= port_bit(up ? Grid::up(d) : Grid::down(d));
  }
  return nearer;
}

/// How many channels between routers lie on the way.
[[nodiscard]] inline unsigned distance(const Grid& grid, NodeNumber from, NodeNumber to) noexcept {
  unsigned hops = 0;
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const std::uint32_t at = grid.at(from, d);
    const std::uint32_t there = grid.at(to, d);
    const std::uint32_t straight = at < there ? there - at : at - there;
    const auto [extent, wraps] = grid.dimension(d);
    hops += wraps && extent - straight < straight ? extent - straight : straight;
  }
  return hops;
}

}  // namespace am::kit
