// A trace as one still picture (SVG): nodes, links, and in colour which share of the run's cycles each link carried a flit.
#pragma once

#include <string>

#include "emulated_hw/kit/trace.hpp"

namespace am::kit {

/// Of a grid of one or two dimensions; others: std::invalid_argument.
[[nodiscard]] std::string to_picture(const Trace& trace);

}  // namespace am::kit
