// For models whose handlers run in polls and nowhere else (GAM, AM-II): their programs were written for that, with plain globals
// and no locks. In the polling mode of libam nothing is to be done. In the other modes the node's arrivals are masked, but for the
// time that the program is inside a call that polls, and libam's lock is held during it: so what arrives runs there, on the
// program's own thread, and not in the handler thread or in the middle of the computation. In the interrupt mode a high event may run
// in the middle of a low handler, by a signal: so the signals that may bring one are blocked meanwhile, and they run one after the other.
//
// The node's own thread only, in its computation.
#pragma once

#include <am/node.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

namespace am::models {

/// Whether messages are taken.
inline void take_messages(Node& node, bool yes) noexcept {
  node.enable_event(Event::high_message, yes);
  node.enable_event(Event::low_message, yes);
}

/// When a model starts on a node: from now on messages are taken inside polling(...) only.
inline void begin_polling(Node& node) noexcept {
  if (node.dispatch() != Dispatch::poll) take_messages(node, false);
}

/// As long as one lives no signal interrupts this thread that brings events (AM_SIGNAL, whichever it is). Only where one may.
class Uninterrupted {
 public:
  explicit Uninterrupted(Node& node) noexcept : may_be_(node.dispatch() == Dispatch::interrupt) {
    if (!may_be_) return;
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGURG, SIGUSR1, SIGUSR2, SIGIO, SIGWINCH}) sigaddset(&signals, signal);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~Uninterrupted() {
    if (may_be_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  const bool may_be_;
  sigset_t before_;
};

/// Runs f(), which may poll and wait. wait_until holds the events off on both sides of each poll in it.
template <class F>
void polling(Node& node, F&& f) {
  if (node.dispatch() == Dispatch::poll) return f();
  struct Open {
    explicit Open(Node& its_node) noexcept : node(its_node) { take_messages(node, true); }
    ~Open() { take_messages(node, false); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    Node& node;
  };
  const Uninterrupted here(node);
  node.wait_until([&] {
    const Open open(node);
    f();
    return true;
  });
}

/// For programs that poll until something has come: who finds nothing for 50 us lets others run, as waits do, and at once where there
/// are more nodes than processors.
class LetOthersRun {
 public:
  /// `ran`: what a poll has found. Gives it back.
  std::size_t after_poll(const Node& node, std::size_t ran) {
    if (ran != 0) {
      idle_ = 0;
      long_idle_ = false;
    } else if (long_idle_ || node.oversubscribed()) {
      std::this_thread::yield();
    } else if (++idle_ % polls_per_look == 0) {
      look_at_clock();
    }
    return ran;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t polls_per_look = 64;
  static constexpr std::chrono::microseconds patience{50};

  void look_at_clock() {
    const Clock::time_point now = Clock::now();
    if (idle_ == polls_per_look) idle_since_ = now;
    long_idle_ = now - idle_since_ >= patience;
  }

  std::uint32_t idle_ = 0;  ///< polls that found nothing
  bool long_idle_ = false;
  Clock::time_point idle_since_;
};

class PollOrYield {
 public:
  /// Returns how many events ran.
  std::size_t operator()(Node& node) {
    std::size_t ran = 0;
    polling(node, [&] { ran = node.poll(); });
    return others_.after_poll(node, ran);
  }

 private:
  LetOthersRun others_;
};

}  // namespace am::models
