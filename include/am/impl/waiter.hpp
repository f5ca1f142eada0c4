// How a node waits: it spins, then yields, then sleeps, and says so when it takes too long. A waiter accompanies one
// wait: the owner polls, and tells it after each poll whether something happened.
//
// Spinning keeps the latency of a busy job; yielding lets the other nodes of a crowded machine run (GASNet's and Open
// MPI's users lose a factor of ten here); sleeping makes an idle job cost nothing.
//
// Used by Node::wait_until inline and by core's own waits; by the node's own thread.
#pragma once

#include <am/impl/patience.hpp>
#include <cstdint>

namespace am::impl {

class Waiter {
 public:
  /// `what` is a literal: it goes onto the node's card for others to read.
  Waiter(core::Engine& engine, const char* what) noexcept;
  ~Waiter() {
    if (patience_.is_tried()) publish_wait(0);
    polls_come(false);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// After each poll: whether something happened.
  void polled(bool something_happened) {
    if (something_happened) {
      worked();
    } else {
      idle();
    }
  }
  /// Something happened: the patience begins anew.
  void worked() noexcept {
    spins_left_ = spins_;
    spins_end_ns_ = 0;
    yields_left_ = yields_;
    if (!patience_.is_tried()) return;
    patience_.begin_anew();
    publish_wait(0);
  }
  /// Nothing happened: waits a little, at most 16 ms. Ends the node when the deadline (AM_TIMEOUT) has passed.
  void idle() {
    if (spins_left_ != 0) {
      if (--spins_left_ % polls_per_look == 0) look_at_clock();
    } else {
      yield_or_sleep();
    }
  }
  /// Whether the next idle() sleeps, so that whoever ends this wait has to wake the node.
  [[nodiscard]] bool sleeps_next() const noexcept { return spins_left_ == 0 && yields_left_ == 0; }

 private:
  static constexpr std::uint32_t polls_per_look = 64;

  void polls_come(bool quickly) noexcept;
  void look_at_clock() noexcept;
  void yield_or_sleep();
  void sleep();
  void publish_wait(std::uint64_t since_ns) noexcept;

  core::Engine& engine_;
  const char* what_;
  std::uint32_t
      spins_;  // how often to poll in vain before the first yield, and how often to yield before sleeping
  std::uint32_t yields_;
  std::uint32_t spins_left_;
  std::uint32_t yields_left_;
  std::uint64_t spins_end_ns_ = 0;  ///< 0: not known yet
  Patience patience_;
  std::uint64_t nap_ns_ = 0;
};

}  // namespace am::impl
