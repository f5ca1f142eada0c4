// The LOG model, of Latency, Occupancy and Grain size: what a program takes that computes and sends in phases, and needs in each
// what the others have sent in the one before (W. S. Lee, "Mechanisms for Efficient, Protected Messaging", 1999, 7.1).
//
//   T_x = i x (C + m (k_o + w v_o) + max(0, k_l - s))
//
// All times have one unit, which is the user's, as in am/logp/network.hpp. Pure functions, for any thread.
//
// Messages are not bundled, and no part of occupancy is hidden: where a node waits for a message it would wait longer (7.1.2).
#pragma once

#include <am/logp/network.hpp>

#include <algorithm>

namespace am::logp {

/// What messages cost the processor that sends and receives them.
struct Overheads {
  double per_message = 0;  // k_o: the processor is busy with each message
  double per_word = 0;     // v_o: and with each of its words
  double latency = 0;      // k_l

  /// k_o + w v_o.
  [[nodiscard]] constexpr double occupancy(double words) const noexcept {
    return per_message + words * per_word;
  }
};

/// One phase of one node.
struct Phase {
  double computation = 0;  // C
  double messages = 0;     // m: that it sends, and as many come
  double words = 0;        // w: of each
  double slack =
      0;  // s: from the send of what the others need first to their need; negative where that is late
};

/// `phases` of them: i.
[[nodiscard]] constexpr double execution_time(const Phase& phase, const Overheads& overheads,
                                              double phases = 1) noexcept {
  return phases * (phase.computation + phase.messages * overheads.occupancy(phase.words) +
                   std::max(0.0, overheads.latency - phase.slack));
}

/// A network as this model sees it. A message that was received has been sent in a phase before, so that its receiver's part is
/// counted at the send (7.1); words of 8 bytes that are payload cost their time on the network.
[[nodiscard]] constexpr Overheads overheads_of(const Network& network) noexcept {
  return {.per_message = network.o_send + network.o_recv,
          .per_word = 8 * network.gap_per_byte,
          .latency = network.latency};
}

}  // namespace am::logp
