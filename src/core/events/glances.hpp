// When a node whose messages come through shared memory glances at its other networks, which are calm (Transport::is_calm): to look
// at a socket takes longer than a round trip through shared memory. Every 2 us; every 50 us while messages come through shared memory,
// of whose time a glance takes one part in a hundred then. Nor does each poll look at the clock, which would double its time:
// one in 32, as long as they come so quickly that this is soon enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/clock.hpp"

namespace am::core {

class Glances {
 public:
  /// Of each poll that might do without.
  using Clock = std::uint64_t (*)();
  [[nodiscard]] bool is_due(Clock clock = host::monotonic_ns) noexcept {
    return --polls_left_ == 0 && look_at(clock);
  }
  /// So many messages came through shared memory in it.
  void ran(std::size_t messages) noexcept { messages_ += messages; }

 private:
  static constexpr std::uint64_t idle_ns = 2'000;
  static constexpr std::uint64_t busy_ns = 50'000;
  static constexpr std::uint64_t most_polls = 32;

  [[gnu::noinline]] bool look_at(Clock clock) noexcept {
    const std::uint64_t now = clock();
    const std::uint64_t each_ns = (now - clock_ns_) / polls_ + 1;
    clock_ns_ = now;
    polls_ = polls_left_ = std::clamp<std::uint64_t>(idle_ns / each_ns, 1, most_polls);
    if (now - glanced_ns_ < (messages_ != 0 ? busy_ns : idle_ns)) return false;
    glanced_ns_ = now;
    messages_ = 0;
    return true;
  }

  std::uint64_t polls_left_ = 1;
  std::uint64_t polls_ = 1;       // from one look at the clock to the next
  std::uint64_t clock_ns_ = 0;    // when it was looked at
  std::uint64_t glanced_ns_ = 0;  // when is_due() was true
  std::size_t messages_ = 0;      // since then
};

}  // namespace am::core
