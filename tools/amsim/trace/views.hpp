// A trace for people, and for programs that show traces.
#pragma once

#include <string>

#include "emulated_hw/kit/trace.hpp"

namespace amsim {

/// The JSON of Chrome and Perfetto (ui.perfetto.dev), where each node is a process with a track for what it does and one for each link that
/// leaves it; in a fat tree routers are processes of their own. A cycle is a microsecond there. What a link carries is a slice with the
/// number of its message; arrows lead from slice to slice, from the interface that sent a message to the one where it came.
[[nodiscard]] std::string to_json(const am::kit::Trace& trace);

// Of a grid of one or two dimensions; others: std::invalid_argument.

/// One page, which needs nothing but a browser and shows the machine at work. Nodes and the links between them, what links carry in colour,
/// what nodes do; a slider through time; and any message followed from the interface that sent it to where it came.
///
/// Behind # in its address stand, if one likes, the cycle, the message and the cycles over which load is averaged (0: all):
/// trace.html#t=120&message=7&over=16
[[nodiscard]] std::string to_page(const am::kit::Trace& trace);
/// One still picture (SVG): nodes, links, and in colour which share of the run's cycles each link carried a flit.
[[nodiscard]] std::string to_picture(const am::kit::Trace& trace);

}  // namespace amsim
