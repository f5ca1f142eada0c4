// What sockets give two processes of this machine over the loopback interface, without libam: the limits of a network over TCP.
// Both poll their sockets, as libam's nodes do.

#pragma once

#include <cstddef>

#include "limits/pair.hpp"

namespace ambench {

// Half of the time in which 8 bytes go to the other process and come back.
double tcp_half_rtt_ns(CorePair cores);

// Messages of 8 bytes, in millions per second, where each is written by a call of its own; read as many at a time as there are.
double tcp_writes_million_per_s(CorePair cores);

// A stream in writes of so many bytes each, read into one place.
double tcp_stream_gb_per_s(CorePair cores, std::size_t bytes);
// The same of words that are written anew before each write, and all read.
double tcp_words_stream_gb_per_s(CorePair cores, std::size_t bytes);

}  // namespace ambench
