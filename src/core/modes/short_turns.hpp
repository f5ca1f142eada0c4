// Short turns on the processor, for a thread that has little to do whenever it is woken: the system lets who asks for less at a
// time run sooner. It takes no privilege, and nobody's share of the processor changes.
//
// Source: sched_setattr(2) and Documentation/scheduler/sched-eevdf.rst of Linux, where "slice" is what is called a turn here.
#pragma once

namespace am::core {

/// The calling thread then does not wait, when it is woken, for the end of the turn of whoever computes there, unless it has
/// had more than its share. Threads and processes that it starts do not inherit that. Without effect before Linux 6.12, where it
/// is forbidden, and for a thread that its user has given a policy of its own.
void ask_for_short_turns() noexcept;

}  // namespace am::core
