// Programs that run on every machine: one source, and what each takes there in cycles of its processors. Each run has a machine of its own, and is
// the same every time.
#pragma once

#include <vector>

#include "emulated_hw/across/machine.hpp"

namespace am::across {

/// Which machine: its name, as in `kinds`.
using Name = std::string_view;

/// A message there and an answer back, to the node of the highest number. Throws as machine_of(), and std::runtime_error.
[[nodiscard]] Cycle ping(Name machine, NodeNumber nodes);
/// A block of words to that node, and an answer.
[[nodiscard]] Cycle block(Name machine, NodeNumber nodes, unsigned words);
/// The same there and back, twice; half of the second time.
[[nodiscard]] double half_round_trip(Name machine, unsigned words);
/// A message of each node to each other, and all answers.
[[nodiscard]] Cycle all_to_all(Name machine, NodeNumber nodes);
/// Steps of a computation on a grid whose points are spread over all nodes, which form a square: each computes its inner points, puts an edge
/// of 32 words to each neighbour, and computes its own edge when all of theirs are there. The mean time of a step.
[[nodiscard]] double stencil(Name machine, NodeNumber nodes);
/// What a step computes, in cycles: the inner points, and the edges.
inline constexpr unsigned inner_cycles = 2000;
inline constexpr unsigned edge_cycles = 200;

/// Requests in a row to the other of two nodes, with a computation of so many cycles after each and a look for answers: until the last
/// has been sent, and the computation after it.
[[nodiscard]] Cycle burst(Name machine, unsigned requests, unsigned delay);

}  // namespace am::across
