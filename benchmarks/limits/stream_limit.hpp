// What this machine allows two processes that stream blocks through shared memory: slots that the one fills and the other
// empties, a word for each side to say how far it is. The limit of long payloads.

#pragma once

#include <cstddef>

#include "limits/pair.hpp"

namespace ambench {

// Copied in from private memory, and copied out into private memory; GB/s.
double two_copy_stream_gb_per_s(CorePair cores, std::size_t bytes);

// Written where it lies, and read (summed up) where it lies; GB/s.
double in_place_stream_gb_per_s(CorePair cores, std::size_t bytes);

}  // namespace ambench
