// How many requests of libam a node of the M-Machine takes before it sends back what comes: a bound for all senders together, beside
// that of each one's window (3.3.2: "local resource shortage"). Shared words, one set for each node.
//
//   accepted   by whoever carries a message there     how many have been taken
//   limit      the same                               how many may be, as somebody has seen it last
//   released   by the node                            how many it has handled, or has found waiting behind one that it deferred
//   waits      by a sender that goes to sleep         its messages were sent back; taken away by the node, which wakes it
//
// Two who ask at once may both be told that there is room, for the last; and who is killed in between counts one too few. Nothing
// depends on either: what a window holds is bounded by itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/layout.hpp"
#include "transports/emulated/senders.hpp"

namespace am::emulated {

/// Assumed; more than what one sender's window holds, so that only several together fill it.
inline constexpr std::uint64_t receive_buffers = 128;

struct alignas(2 * host::line) ReceiveBuffers {
  std::atomic<std::uint64_t> accepted;
  std::atomic<std::uint64_t> limit;
  alignas(2 * host::line) std::atomic<std::uint64_t> released;
  std::atomic<bool> any_waits;
  Senders waits;
  Senders sent_back;  ///< of this node: who has sent messages of its back

  [[nodiscard]] bool has_room() noexcept {
    const std::uint64_t taken = accepted.load(std::memory_order_relaxed);
    if (is_below(taken, limit.load(std::memory_order_relaxed))) return true;
    const std::uint64_t now = released.load(std::memory_order_seq_cst) + receive_buffers;
    limit.store(now, std::memory_order_relaxed);
    return is_below(taken, now);
  }

 private:
  static constexpr bool is_below(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::int64_t>(b - a) > 0;
  }
};

}  // namespace am::emulated
