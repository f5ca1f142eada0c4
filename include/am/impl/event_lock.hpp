// Who is in the node: its own thread, or its events. In the modes in which handlers run while the program computes
// (am::Dispatch), whatever touches the node's state holds this lock: a critical section, a library call, the handler
// thread, the interrupt. The polling mode does without.
//
// The node's thread comes and goes often, its events seldom between two of its visits. So the lock is biased: the
// thread enters by a store and a load, with no fence in between. While it is `unbiased` it pays for a fence; events that
// find it biased first make it unbiased, at the price of a fence wherever this process runs (host::process_fence), and the
// thread makes it biased again when it has come many times without meeting them.
//
//   the thread                              the events
//     inside = 1                              before = word.fetch_or(events_inside | unbiased)
//     [unbiased: a full fence]                [before was biased: heavy fence]
//     word has events_inside? wait            inside == 1? take events_inside back, and wait
//
// Invariants
//  L1  Never both: each side first says that it is in and then looks at the other, with a fence on both sides, or a heavy
//      one on the events' side, in between. A heavy fence falls either after the thread's store, which the events then
//      see, or before its load, which then sees the events.
//  L2  `unbiased` is cleared by the thread only, inside, by a read-modify-write that finds no events_inside: events that
//      come later find it cleared, and fence.
// Pairs of release and acquire
//  R1  leave's store of inside         ->  events' load of it
//  R2  leave_events' change of word    ->  enter's load of it
//  R3  what asks for attention         ->  take_attention, with all that was written before it was asked for
// In the interrupt mode both sides are one thread, which interrupts itself: no fence is needed, the order of the
// instructions is enough.
//
// Model-checked: tests/unit/impl/event_lock_model_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace am::impl {

class EventLock {
 public:
  static constexpr std::uint32_t events_inside = 1;  ///< events are in, or try to be
  static constexpr std::uint32_t unbiased = 2;
  static constexpr std::uint32_t attention = 4;  ///< whoever leaves shall look what there is to do

  // -- the node's own thread

  /// Waits while events run. Not nested.
  void enter() noexcept {
    inside_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if ((word_.load(std::memory_order_acquire) & (events_inside | unbiased)) != 0) [[unlikely]]  // R2
      enter_slowly();
  }
  /// True when somebody has asked for attention since it was last taken.
  [[nodiscard]] bool leave() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    inside_.store(0, std::memory_order_release);  // R1
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return (word_.load(std::memory_order_relaxed) & attention) != 0;
  }
  /// Whoever is in.
  void take_attention() noexcept { word_.fetch_and(~attention, std::memory_order_acquire); }  // R3

  // -- events

  /// False while the node's thread is in.
  [[nodiscard]] bool try_enter_events() noexcept;
  void leave_events() noexcept { word_.fetch_and(~events_inside, std::memory_order_release); }  // R2
  /// Relaxed: a hint for whoever waits.
  [[nodiscard]] bool thread_is_inside() const noexcept {
    return inside_.load(std::memory_order_relaxed) != 0;
  }
  /// Asks the node's thread for attention when it leaves. False when it is not inside any more: then nobody was asked.
  [[nodiscard]] bool ask_for_attention() noexcept;

  // -- either side, while inside

  void want_attention() noexcept { word_.fetch_or(attention, std::memory_order_release); }  // R3

 private:
  void enter_slowly() noexcept;

  static constexpr std::uint32_t bias_after = 256;  // visits in a row that met no events

  alignas(64) std::atomic<std::uint32_t> inside_{0};       // the thread's line: 1 while it is in
  std::uint32_t visits_ = 0;                               // while unbiased, since the last meeting
  alignas(64) std::atomic<std::uint32_t> word_{unbiased};  // the events' line
};

}  // namespace am::impl
