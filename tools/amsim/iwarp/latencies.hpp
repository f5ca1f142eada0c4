// What section 8 of Borkar et al. (1990) has times for, measured on the emulated machine (src/emulated_hw/iwarp), in cycles of 50 ns.

#pragma once

#include <span>

#include "emulated_hw/iwarp/machine.hpp"
#include "emulated_hw/kit/trace.hpp"

namespace amsim::iwarp {

using am::iwarp::CellNumber;
using am::iwarp::Cycle;
using am::iwarp::Leg;

// Of the program that makes and sends them.
struct SourceTimes {
  Cycle request = 0;  // of a logical channel
  Cycle begin = 0;    // markers
  Cycle address = 0;  // each, of a corner
  Cycle end = 0;
  Cycle message_begin = 0;
  Cycle message_end = 0;
};
SourceTimes source_times();

// From the first instruction of a program in cell 0.
struct SetUp {
  Cycle free = 0;   // until it may send
  Cycle there = 0;  // until the begin marker has come to the end of its pathway
};
SetUp set_up(const am::kit::Grid& grid, std::span<const Leg> legs);

// From a join instruction until the first word leaves the joint cell.
Cycle join();
// From a message header's arrival in a joint cell until that in the next cell.
Cycle header_through_joint();

// A pathway from cell 0 to that one, with so many words, up to its end marker. A trace is told of what passes each bus. A flit of it is
// what a bus carries in a cycle: half a word.
void trace_pathway(const am::kit::Grid& grid, CellNumber to, unsigned words, am::kit::Trace& trace);

}  // namespace amsim::iwarp
