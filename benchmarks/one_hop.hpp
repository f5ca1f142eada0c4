// What one packet's move costs a thread that nobody disturbs: from one live router to the next, and, to compare with, through a queue
// of one writer and one reader, which is what a channel would be if a router were stepped under a lock.

#pragma once

#include <optional>
#include <string>

namespace ambench {

// ns per hop through the emulated T1's live routers, all words in this processor's cache.
double live_hop_ns();

// ns per packet into boost::lockfree::spsc_queue of as many places, and out again; none: Boost was not there at the build.
std::optional<double> spsc_queue_ns();

}  // namespace ambench
