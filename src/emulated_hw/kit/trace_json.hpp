// A trace for programs that show traces: the JSON of Chrome and Perfetto (ui.perfetto.dev), where each node is a process with a track for
// what it does and one for each link that leaves it; in a fat tree routers are processes of their own. A cycle is a microsecond there. What a link carries is a slice with the number of
// its message; arrows lead from slice to slice, from the interface that sent a message to the one where it came.
#pragma once

#include <string>

#include "emulated_hw/kit/trace.hpp"

namespace am::kit {

[[nodiscard]] std::string to_json(const Trace& trace);

}  // namespace am::kit
