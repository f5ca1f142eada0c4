// The signal that interrupts a node's computation (am::Dispatch::interrupt): its handler, and the timer that brings
// timelets. One per node in that mode; the nodes of a process share the signal.
//
// The signal (AM_SIGNAL, SIGURG by default: what comes late, when the node has left, is ignored by default) is sent to the
// node's own thread by whoever finds it armed (host::wake). Its handler leaves errno and, as far as that can be
// done, the system calls that it interrupts as they were (continue_call.hpp).
//
// Linux keeps one signal of a number for a thread that blocks it: a ring that comes while the timer's waits is that one. And since 6.13
// it takes a timer's signal back when the timer is set anew (posixtimer_deliver_signal), with the ring that it stands for. So a timer
// whose signal may wait is set to give it once more, at once.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace am::core {

class Interrupts {
 public:
  /// Takes the signal for this process, on the thread that will be interrupted. Throws am::Error when somebody else has a
  /// handler for it.
  explicit Interrupts(int signal);
  /// Puts back what was there before, if it is the last one.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The signal comes at `when_ns` (CLOCK_MONOTONIC); 0: no more. Or it comes at once, and whoever hears it sets it anew. Safe in a
  /// signal handler.
  void set_timer(std::uint64_t when_ns) noexcept;
  /// The timer's signal is being handled.
  void hear_timer() noexcept { rings_at_.store(never, std::memory_order_relaxed); }

  /// Whether another signal may interrupt what this thread does now. In a signal handler, until that returns.
  void block(bool blocked) noexcept;

 private:
  const int signal_;
  const pid_t pid_;
  timer_t timer_{};
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::atomic<std::uint64_t> rings_at_ = never;  // unheard; signal handlers write it, too
};

}  // namespace am::core
