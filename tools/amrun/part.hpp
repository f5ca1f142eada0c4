// The part of amrun on one of a job's hosts: starts this host's nodes as the head orders, and tells it what they write, when they
// have joined, and how they end. It takes its orders from standard input and answers on standard output (frames.hpp); when that
// ends, so do the nodes.
//
// Two threads: the main one supervises the nodes, as on one machine; the other one (Line, in part.cpp) speaks with the head.
#pragma once

namespace amrun {

// Whether this amrun was started by another one: `amrun --part`, or on the head's own host `amrun --part FD`, where the number is that of
// the descriptor from which node 0 reads.
bool is_part(int argc, char** argv);
inline constexpr const char* part_option = "--part";

// Returns the exit code.
int run_part(int argc, char** argv);

}  // namespace amrun
