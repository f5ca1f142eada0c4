// What this machine needs from FUTEX_WAKE in one process until a thread of another runs, which slept on a processor where that
// other one computes: the limit of a handler thread that shares its processor. And how long it may take: the system hands
// the processor over at once only to who has not had more than its share of it.

#pragma once

#include <cstddef>

#include "limits/pair.hpp"
#include "reporting.hpp"

namespace ambench {

// In ns. For some 40 ms, and at least `wakes` times, the thread is woken `least_gap_us` to `most_gap_us` after it ran. As a
// handler thread it asks for short turns. It and the computation are on cores.second.
Spread woken_beside_ns(CorePair cores, double least_gap_us, double most_gap_us, std::size_t wakes);

}  // namespace ambench
