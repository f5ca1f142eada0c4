// What the kit calls a network of that shape.
#pragma once

#include <am/sim/network.hpp>

#include "emulated_hw/kit/cycle_network.hpp"

namespace am::sim {

/// Throws std::invalid_argument.
[[nodiscard]] inline kit::Topology topology_of(const Shape& shape) {
  return kit::topology_named(shape.topology, shape.k, shape.n);
}

[[nodiscard]] inline kit::CycleNetwork::Options options_of(const Shape& shape) {
  return {.num_vcs = shape.num_vcs, .vc_buf_size = shape.vc_buf_size, .routing_delay = shape.routing_delay};
}

}  // namespace am::sim
