// For programs that poll until something has come, as those of the old interfaces do. (The nodes of GAM and AM-II poll in every
// mode, Node::poll_only: their programs were written for that, with plain globals and no locks.)
//
// The node's own thread only, in its computation.
#pragma once

#include <am/node.hpp>

#include <chrono>
#include <cstdint>
#include <thread>

namespace am::models {

/// Who finds nothing for 50 us lets others run, as waits do, and at once where there are more nodes than processors.
class LetOthersRun {
 public:
  explicit LetOthersRun(const Node& node) noexcept : crowded_(node.oversubscribed()) {}

  /// `ran`: what a poll has found.
  void after_poll(std::size_t ran) {
    if (ran != 0) {
      idle_ = 0;
      long_idle_ = false;
    } else if (long_idle_ || crowded_) {
      std::this_thread::yield();
    } else if (++idle_ % polls_per_look == 0) {
      look_at_clock();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t polls_per_look = 64;
  static constexpr std::chrono::microseconds patience{50};

  [[gnu::noinline]] void look_at_clock() {
    const Clock::time_point now = Clock::now();
    if (idle_ == polls_per_look) idle_since_ = now;
    long_idle_ = now - idle_since_ >= patience;
  }

  const bool crowded_;
  std::uint32_t idle_ = 0;  ///< polls that found nothing
  bool long_idle_ = false;
  Clock::time_point idle_since_;
};

}  // namespace am::models
