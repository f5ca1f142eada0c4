// The time that deadlines count stops and goes on with the job.
#include "host/standstill.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <memory>

namespace am::host::standstill_test {

TEST(Standstill, DoesNotCount) {
  const auto job = std::make_unique<JobHeader>();
  constexpr std::uint64_t stood_ns = 20'000'000;
  const std::uint64_t first = running_ns(*job);
  for (int round = 0; round < 3; ++round) {
    stop_time(*job);
    const std::uint64_t stopped = running_ns(*job);
    stop_time(*job);  // of one that stands still: nothing
    for (const std::uint64_t began = monotonic_ns(); monotonic_ns() - began < stood_ns;) sched_yield();
    EXPECT_EQ(running_ns(*job), stopped);
    let_time_go_on(*job);
    let_time_go_on(*job);
    EXPECT_GE(running_ns(*job), stopped);
  }
  const std::uint64_t last = running_ns(*job);
  EXPECT_GE(monotonic_ns() - first, last - first + 3 * stood_ns);
}

}  // namespace am::host::standstill_test
