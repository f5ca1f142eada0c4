// A trace for people: one page, which needs nothing but a browser and shows the machine at work. Nodes and the links between them, what
// links carry in colour, what nodes do; a slider through time; and any message followed from the interface that sent it to where it came.
//
// Behind # in its address stand, if one likes, the cycle, the message and the cycles over which load is averaged (0: all):
// trace.html#t=120&message=7&over=16
#pragma once

#include <string>

#include "emulated_hw/kit/trace.hpp"

namespace am::kit {

/// Of a grid of one or two dimensions; others: std::invalid_argument.
[[nodiscard]] std::string to_page(const Trace& trace);

}  // namespace am::kit
