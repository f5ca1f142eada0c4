// The time that deadlines count: CLOCK_MONOTONIC without the time in which amrun had stopped the whole job (tools/amrun/gang.hpp).
//
// One word on the board says it. While the job runs: how long it has stood still so far. While it stands still: what the time is, and
// the lowest bit. amrun writes it when all processes have stopped, and again before they go on. So in a node this time never goes
// back: one that is stopped in the middle of running_ns reads the word anew. Others, as amrun, may see it go back by the moment between
// amrun's look at the clock and its store. What it takes to stop all is counted, what it takes to go on, too.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/board.hpp"
#include "host/clock.hpp"

namespace am::host {

[[nodiscard]] inline std::uint64_t running_ns(const JobHeader& job) noexcept {
  for (;;) {
    const std::uint64_t word = job.standstill.load(std::memory_order_relaxed);  // no other word depends on it
    if ((word & 1) != 0) return word >> 1;
    const std::uint64_t now = monotonic_ns();
    if (job.standstill.load(std::memory_order_relaxed) == word) return now - (word >> 1);
  }
}

[[nodiscard]] inline bool stands_still(const JobHeader& job) noexcept {
  return (job.standstill.load(std::memory_order_relaxed) & 1) != 0;
}

/// By amrun alone: the time stops, or goes on. Half of the word is enough for 292 years.
inline void stop_time(JobHeader& job) noexcept {
  if (!stands_still(job)) job.standstill.store(running_ns(job) << 1 | 1, std::memory_order_relaxed);
}
inline void let_time_go_on(JobHeader& job) noexcept {
  if (stands_still(job))
    job.standstill.store((monotonic_ns() - running_ns(job)) << 1, std::memory_order_relaxed);
}

}  // namespace am::host
