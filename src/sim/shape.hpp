// What the simulator calls a network of that shape.
#pragma once

#include <am/sim/network.hpp>

#include "emulated_hw/networks.hpp"

namespace am::sim {

[[nodiscard]] inline networks::Which which(const Shape& shape) {
  return {
      .machine = shape.network,
      .k = shape.k,
      .n = shape.n,
      .textbook = {
          .num_vcs = shape.num_vcs, .vc_buf_size = shape.vc_buf_size, .routing_delay = shape.routing_delay}};
}

}  // namespace am::sim
