// What this machine allows two processes that talk through a plain ring of 64-byte slots: a sequence number
// in the slot is the flag, the consumer spins on it. No header, no handlers, no priorities, no credit in
// ping-pong: the measures of libam are set beside it.

#pragma once

#include <cstdint>

#include "limits/pair.hpp"

namespace ambench {

// Half round trip of 8 bytes, one ring per direction, in ns.
double ring_half_rtt_ns(CorePair cores);

// The ring that one-way streams are compared with: 64 KiB. From 256 KiB on the machine this was written on
// streams twice as fast (`ambench limits` shows it), at a price in memory per pair of nodes that libam does
// not pay.
inline constexpr std::uint64_t limit_ring_slots = 1024;

// One-way stream through one ring in million messages/s. Every slot is written and read in full
// (checksummed); the producer looks at a count of freed slots that the consumer publishes every quarter of
// the ring. `slots` is a power of two, at least 4.
double ring_million_per_s(CorePair cores, std::uint64_t slots = limit_ring_slots);

// Words of 8 bytes one way, through a ring of 64 KiB with a counter at either end.
double ring_words_million_per_s(CorePair cores);

}  // namespace ambench
