// What this machine needs from a store and FUTEX_WAKE in one process until another, which slept on that word, goes on:
// the limit of a node that is woken from sleep.

#pragma once

#include "limits/pair.hpp"

namespace ambench {

// In ns, the median of `times`; `gap_ns` between two wakes. The sleeper runs on cores.second, and before each sleep it
// spins for as long as a waiting node does, so that it has slept as long as one. `timed`: it sleeps with a time limit that
// does not pass, as a waiting node does; to drop that timer costs some machines microseconds more.
double futex_wake_ns(CorePair cores, double gap_ns, int times, bool timed);

}  // namespace ambench
