// Count: nanoseconds since the job began, which all nodes of a host make of their CLOCK_MONOTONIC in the same way. Where the first
// host's clock is this one, too, that is a difference; else a line that follows the first host's clock and is corrected now and
// then, by one node of this host for all (core/membership/count_keeper.hpp). It never goes back.
//
// The last lines are on the board: one is written while others are read, so that a writer that dies in the middle leaves them whole.
// A line begins some time after it was written; until then the one before it goes on. So a writer that is held up makes nothing
// go back, unless that is for longer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>

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
      return monotonic - epoch();
    return line_at(monotonic).at(monotonic);
  }
  /// When it will be, or was, that Count: about.
  [[nodiscard]] std::uint64_t monotonic_at(std::uint64_t count) const noexcept {
    if (!follows()) [[likely]]
      return count + epoch();
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t there = at(now);
    return count >= there ? now + std::min(count - there, UINT64_MAX - now)
                          : now - std::min(there - count, now);
  }
  /// By how much it may differ now from that of the first host: 0 where they have one clock.
  [[nodiscard]] std::uint64_t error_ns() const noexcept {
    const std::uint64_t now = monotonic_ns();
    return follows() ? line_at(now).error_at(now) : 0;
  }

  /// Whether there is a line.
  [[nodiscard]] bool follows() const noexcept {
    return job_.count_lines.load(std::memory_order_relaxed) != 0;  // whoever reads one acquires
  }
  /// The last one. Before the first: that by which Count goes until then.
  [[nodiscard]] CountLine last_line() const noexcept {
    return follows() ? line_at(~std::uint64_t{0}) : CountLine{.from_ns = epoch()};
  }

 private:
  /// The line of that time, of CLOCK_MONOTONIC.
  [[nodiscard]] CountLine line_at(std::uint64_t monotonic) const noexcept {
    for (;;) {
      const std::uint32_t last = job_.count_lines.load(std::memory_order_acquire);  // pairs with set_line
      CountLine found = read(last);
      if (monotonic < found.from_ns && last > 1) found = read(last - 1);
      // Who has read something of a line that is being written sees here that the one behind `last` is there: that was stored before
      // (each acquire in read() pairs with a release in set_line).
      if (job_.count_lines.load(std::memory_order_relaxed) == last) return found;
    }
  }
  [[nodiscard]] CountLine read(std::uint32_t number) const noexcept {
    const SharedCountLine& shared = job_.count_line[number % std::size(job_.count_line)];
    CountLine result;
    result.from_ns = shared.from_ns.load(std::memory_order_acquire);
    result.count = shared.count.load(std::memory_order_acquire);
    result.rate = shared.rate.load(std::memory_order_acquire);
    result.catch_up = shared.catch_up.load(std::memory_order_acquire);
    result.for_ns = shared.for_ns.load(std::memory_order_acquire);
    result.error_ns = shared.error_ns.load(std::memory_order_acquire);
    return result;
  }
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return job_.epoch_ns.load(
        std::memory_order_relaxed);  // final before the node has joined, in order with `joined`
  }

  const JobHeader& job_;
};

/// By one node of the host at a time.
inline void set_line(JobHeader& job, const CountLine& next_line) noexcept {
  const std::uint32_t next = job.count_lines.load(std::memory_order_relaxed) + 1;
  SharedCountLine& shared = job.count_line[next % std::size(job.count_line)];
  shared.from_ns.store(next_line.from_ns, std::memory_order_release);
  shared.count.store(next_line.count, std::memory_order_release);
  shared.rate.store(next_line.rate, std::memory_order_release);
  shared.catch_up.store(next_line.catch_up, std::memory_order_release);
  shared.for_ns.store(next_line.for_ns, std::memory_order_release);
  shared.error_ns.store(next_line.error_ns, std::memory_order_release);
  job.count_lines.store(next, std::memory_order_release);
}

}  // namespace am::host
