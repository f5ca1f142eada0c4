// What this machine needs from tgkill in one process to the first instruction of the signal handler in another, which
// computes: the interrupt mode's limit.

#pragma once

#include "limits/pair.hpp"

namespace ambench {

// In ns, the median over some 25 ms; the target runs on cores.second.
double signal_ns(CorePair cores);

}  // namespace ambench
