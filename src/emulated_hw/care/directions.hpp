// The logical direction of a target: the ports that lead nearer to it, in a grid or torus by comparisons, in a hypercube by exclusive or (Byrd,
// Nakano and Delagi 1987, 5.4). Another topology is one more function.
#pragma once

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/hypercube.hpp"

namespace am::care {

/// Where both ways round are as long: up.
[[nodiscard]] inline kit::Ports nearer_ports(const kit::Grid& grid, kit::NodeNumber here,
                                             kit::NodeNumber there) {
  kit::Ports direction = 0;
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const auto [extent, wraps] = grid.dimension(d);
    const std::uint32_t at = grid.at(here, d);
    const std::uint32_t to = grid.at(there, d);
    if (at == to) continue;
    const bool up = wraps ? kit::way_round(at, to, extent, [] { return true; }).goes_up : at < to;
    direction |= kit::port_bit(up ? kit::Grid::up(d) : kit::Grid::down(d));
  }
  return direction;
}
[[nodiscard]] inline kit::Ports nearer_ports(const kit::Hypercube&, kit::NodeNumber here,
                                             kit::NodeNumber there) noexcept {
  return (here ^ there) << kit::Hypercube::across(0);
}

}  // namespace am::care
