// Count: nanoseconds since the job began, which all nodes of a host make of their CLOCK_MONOTONIC in the same way. Where the first
// host's clock is this one, too, that is a difference; else a line that follows the first host's clock and is corrected now and
// then, by one node of this host for all (core/membership/count_keeper.hpp). It never goes back.
//
// The line is on the board twice: the older one is written while the newer one is read, so that a writer that dies in the middle
// leaves a whole one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "host/board.hpp"
#include "host/clock.hpp"
#include "host/count_line.hpp"

namespace am::host {

class JobClock {
 public:
  explicit JobClock(const JobHeader& job) noexcept : job_(job) {}

  [[nodiscard]] std::uint64_t now() const noexcept { return at(monotonic_ns()); }
  [[nodiscard]] std::uint64_t at(std::uint64_t monotonic) const noexcept {
    if (!follows()) [[likely]]
      return monotonic - job_.epoch_ns;
    return line().at(monotonic);
  }
  /// When it will be, or was, that Count: about.
  [[nodiscard]] std::uint64_t monotonic_at(std::uint64_t count) const noexcept {
    if (!follows()) [[likely]]
      return count + job_.epoch_ns;
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t there = at(now);
    return count >= there ? now + std::min(count - there, UINT64_MAX - now)
                          : now - std::min(there - count, now);
  }
  /// By how much it may differ now from that of the first host: 0 where they have one clock.
  [[nodiscard]] std::uint64_t error_ns() const noexcept {
    return follows() ? line().error_at(monotonic_ns()) : 0;
  }

  /// Whether there is a line.
  [[nodiscard]] bool follows() const noexcept {
    return job_.count_lines.load(std::memory_order_relaxed) != 0;  // line() acquires
  }
  [[nodiscard]] CountLine line() const noexcept {
    for (;;) {
      const std::uint32_t last = job_.count_lines.load(std::memory_order_acquire);  // pairs with set_line
      const SharedCountLine& shared = job_.count_line[last % 2];
      CountLine read;
      read.from_ns = shared.from_ns.load(std::memory_order_relaxed);
      read.count = shared.count.load(std::memory_order_relaxed);
      read.rate = shared.rate.load(std::memory_order_relaxed);
      read.catch_up = shared.catch_up.load(std::memory_order_relaxed);
      read.for_ns = shared.for_ns.load(std::memory_order_relaxed);
      read.error_ns = shared.error_ns.load(std::memory_order_relaxed);
      // What was read of the next but one line would show that the next one is there: pairs with the fence in set_line.
      std::atomic_thread_fence(std::memory_order_acquire);
      if (job_.count_lines.load(std::memory_order_relaxed) == last) return read;
    }
  }

 private:
  const JobHeader& job_;
};

/// By one node of the host at a time.
inline void set_line(JobHeader& job, const CountLine& next_line) noexcept {
  const std::uint32_t next = job.count_lines.load(std::memory_order_relaxed) + 1;
  std::atomic_thread_fence(
      std::memory_order_release);  // who reads what follows finds the line before it, too
  SharedCountLine& shared = job.count_line[next % 2];
  shared.from_ns.store(next_line.from_ns, std::memory_order_relaxed);
  shared.count.store(next_line.count, std::memory_order_relaxed);
  shared.rate.store(next_line.rate, std::memory_order_relaxed);
  shared.catch_up.store(next_line.catch_up, std::memory_order_relaxed);
  shared.for_ns.store(next_line.for_ns, std::memory_order_relaxed);
  shared.error_ns.store(next_line.error_ns, std::memory_order_relaxed);
  job.count_lines.store(next, std::memory_order_release);
}

}  // namespace am::host
