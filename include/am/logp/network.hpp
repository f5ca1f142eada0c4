// A network in five numbers, and what a program over it takes: LogP (Culler and others, "LogP: Towards a Realistic Model of
// Parallel Computation", 1993) with the time of a byte of long messages (Alexandrov and others, "LogGP", 1995).
//
// All times have one unit, which is the user's: nanoseconds where `ambench logp` has measured them, cycles on a machine under a
// clock. Pure functions of their arguments, for any thread.
//
// The gap is that of requests that are answered, as papers on Active Messages measure it: in each the sender sends one message and
// receives another. Where it is known from the network's links alone it is at least o_send + o_recv. Networks overlap more and
// less than the model; how well it predicts on one is measured by `ambench logp`, too.
#pragma once

#include <am/impl/language.hpp>

#include <algorithm>

namespace am::logp {

/// The numbers of LogP for a network, in any one unit of time.
struct Network {
  double o_send = 0;        // the processor is busy sending a short message, and with a look for others
  double o_recv = 0;        // the processor is busy receiving one
  double latency = 0;       // L: from the end of the one to the begin of the other
  double gap = 0;           // g: between two requests of a long burst
  double gap_per_byte = 0;  // G: of a long message's payload
};

/// From the send to the handler. A short message has no payload: its words count in the other numbers.
[[nodiscard]] constexpr double one_way(const Network& network, double payload_bytes = 0) noexcept {
  return network.o_send + network.latency + network.o_recv + payload_bytes * network.gap_per_byte;
}

/// From the send of a request to the handler of its reply.
[[nodiscard]] constexpr double round_trip(const Network& network, double payload_bytes_there = 0,
                                          double payload_bytes_back = 0) noexcept {
  return one_way(network, payload_bytes_there) + one_way(network, payload_bytes_back);
}

/// What one more request adds to a long burst.
[[nodiscard]] constexpr double interval(const Network& network) noexcept {
  return std::max(network.gap, network.o_send);
}

/// `count` requests one after another, from the first send to the last handler. `count` is 1 or more.
[[nodiscard]] constexpr double burst(const Network& network, double count) noexcept {
  return (count - 1) * interval(network) + one_way(network);
}

/// The same, to the handler of the last reply.
[[nodiscard]] constexpr double answered_burst(const Network& network, double count) noexcept {
  return (count - 1) * interval(network) + round_trip(network);
}

}  // namespace am::logp
