// A machine at work, to be looked at: one step of a computation on a grid whose points are spread over all nodes. Node 0 starts all by
// multicast in two phases (Figure 9); each computes, sends its edge of 37 words to each neighbour, computes again when all of theirs are
// there, and says so to node 0.
#pragma once

#include "emulated_hw/t1/machine.hpp"

namespace amsim::t1 {

using namespace am::t1;
using am::t1::Machine;  // not that of reports

/// Runs until node 0 has heard of all. The machine is new. Throws std::runtime_error when it stands still.
void run_stencil_step(Machine& machine, const Shape& shape);

}  // namespace amsim::t1
