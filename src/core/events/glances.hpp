// When a node whose messages come through shared memory glances at its other networks, which are calm (Transport::is_calm): to look
// at a socket takes longer than a round trip through shared memory. Every 2 us; every 50 us while messages come through shared
// memory, of whose time a glance takes one part in a hundred then. The time is the processor's (host/ticks.hpp), measured by
// CLOCK_MONOTONIC at each glance; while the node waits inside the library, where one poll follows the other, one poll in 8 reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/clock.hpp"
#include "host/ticks.hpp"

namespace am::core {

/// What tells the time: for tests another one.
struct GlanceClock {
  static std::uint64_t ticks() noexcept { return host::ticks(); }
  static std::uint64_t ns() noexcept { return host::monotonic_ns(); }
};

template <class Clock = GlanceClock>
class BasicGlances {
 public:
  /// Of each poll that might do without.
  [[nodiscard]] bool is_due() noexcept {
    if (--polls_left_ != 0) return false;
    polls_left_ = polls_;
    const std::uint64_t gone =
        Clock::ticks() - glanced_ticks_;  // huge, where it was another processor's: due
    return gone >= (messages_ != 0 ? busy_ticks_ : idle_ticks_) && glance();
  }
  /// So many messages came through shared memory in it.
  void ran(std::size_t messages) noexcept { messages_ += messages; }

  /// From here to the next call polls follow each other (`quickly`), or may not.
  void polls_come(bool quickly) noexcept {
    polls_ = quickly ? quick_polls : 1;
    polls_left_ = 1;
  }

 private:
  static constexpr std::uint64_t idle_ns = 2'000;
  static constexpr std::uint64_t busy_ns = 50'000;
  static constexpr std::uint32_t quick_polls = 8;

  [[gnu::noinline]] bool glance() noexcept {
    const std::uint64_t ticks = Clock::ticks();
    const std::uint64_t ns = Clock::ns();
    const double rate = static_cast<double>(ticks - glanced_ticks_) / static_cast<double>(ns - glanced_ns_);
    const bool known = glanced_ns_ != 0 && rate > 0 && rate < 100;
    idle_ticks_ = known ? static_cast<std::uint64_t>(rate * idle_ns) : 0;
    busy_ticks_ = known ? static_cast<std::uint64_t>(rate * busy_ns) : 0;
    glanced_ticks_ = ticks;
    glanced_ns_ = ns;
    messages_ = 0;
    return true;
  }

  std::uint32_t polls_left_ = 1;
  std::uint32_t polls_ = 1;  // from one look at the time to the next
  std::uint64_t glanced_ticks_ = 0;
  std::uint64_t glanced_ns_ = 0;
  std::uint64_t idle_ticks_ = 0;
  std::uint64_t busy_ticks_ = 0;
  std::size_t messages_ = 0;  // since the last glance
};

using Glances = BasicGlances<>;

}  // namespace am::core
