// How a node is told that something has come for it: one bell per node, whatever networks it has. The node sets an alarm
// and sees to it that its networks ring (Transport::arm); whoever has something for it rings by wake().
//
// The order that loses no wake-up: the node sets the alarm, passes a fence (heavy_fence.hpp), and looks once more at all that
// may have come; who brings something makes it visible, and then looks at the alarm. What stands on the board counts as
// brought by nudge(): Bell::nudged() is one more look of the node's.
#pragma once

#include <am/types.hpp>
#include <cstdint>

#include "host/board.hpp"

namespace am::host {

/// How a node wants to be told. Whoever tells it takes this back to `none` first, so that many senders tell it once.
enum class Alarm : std::uint32_t {
  none,     ///< it looks by itself
  sleeper,  ///< its thread, or the handler thread in its place, sleeps in Bell::sleep
  signal,   ///< it computes, and is to be interrupted
  thread,   ///< it computes, and its handler thread sleeps
};

/// The node's own end. Used by whoever is in the node.
class Bell {
 public:
  Bell(const Board& board, NodeId node) noexcept : card_(board.card(node)) {}

  /// Relaxed: what follows has the fence.
  void set(Alarm alarm) noexcept { card_.alarm.store(word(alarm), std::memory_order_relaxed); }
  /// Who was about to ring may still do so.
  void clear() noexcept { set(Alarm::none); }
  /// Nobody has rung since it was set.
  [[nodiscard]] bool is_set() const noexcept {
    return card_.alarm.load(std::memory_order_relaxed) != word(Alarm::none);
  }
  /// Whether there was a nudge since it was last asked. After the fence.
  [[nodiscard]] bool nudged() noexcept {
    const std::uint32_t now =
        card_.nudges.load(std::memory_order_acquire);  // the news itself: pairs with nudge()
    const bool any = now != seen_;
    seen_ = now;
    return any;
  }
  /// Sleeps until somebody rings, or `until_ns` (CLOCK_MONOTONIC). With Alarm::sleeper set; returns at once without.
  void sleep(std::uint64_t until_ns) noexcept;

 private:
  static constexpr std::uint32_t word(Alarm alarm) noexcept { return static_cast<std::uint32_t>(alarm); }

  NodeCard& card_;
  std::uint32_t seen_ = 0;
};

/// Rings, if the node has set an alarm: after what has come for it was made visible, and a fence or the node's heavy one. A
/// node that has ended is sent no signal. Any thread, any process of the host; also in a signal handler.
void wake(const Board& board, NodeId node) noexcept;
/// There is news on the board, written before this: if the node is about to sleep it looks again, and if it sleeps it wakes
/// up. As wake().
void nudge(const Board& board, NodeId node) noexcept;
/// Wakes the node's handler thread, if it sleeps. As wake().
void ring_thread(const Board& board, NodeId node) noexcept;

}  // namespace am::host
