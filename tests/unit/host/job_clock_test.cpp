// Count as nodes of a host read it while one of them corrects it: whole lines only, also when a writer dies in the middle.
#include "host/job_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "host/memory.hpp"

namespace am::host::job_clock_test {

/// A line of which each number tells all others.
CountLine line_number(std::uint64_t n) {
  return {.from_ns = n,
          .count = 3 * n,
          .rate = static_cast<ClockRate>(n % 1000),
          .catch_up = -static_cast<ClockRate>(n % 1000),
          .for_ns = 5 * n,
          .error_ns = 7 * n};
}
bool is_whole(const CountLine& line) {
  const CountLine expected = line_number(line.from_ns);
  return line.count == expected.count && line.rate == expected.rate && line.catch_up == expected.catch_up &&
         line.for_ns == expected.for_ns && line.error_ns == expected.error_ns;
}

class JobClockTest : public testing::Test {
 protected:
  const std::shared_ptr<Memory> memory_ = Memory::create(1);
  JobHeader& job_ = memory_->board().job();
  const JobClock clock_{job_};
};

TEST_F(JobClockTest, IsADifferenceWhereThereIsOneClock) {
  job_.epoch_ns = 1000;
  EXPECT_FALSE(clock_.follows());
  EXPECT_EQ(clock_.at(1500), 500u);
  EXPECT_EQ(clock_.last_line().at(1500), 500u) << "also before the first line";
  EXPECT_EQ(clock_.monotonic_at(500), 1500u);
  EXPECT_EQ(clock_.error_ns(), 0u);
}

TEST_F(JobClockTest, IsTheLastLineElse) {
  const std::uint64_t now = monotonic_ns();
  set_line(job_, {.from_ns = now, .count = 5});
  set_line(job_, {.from_ns = now, .count = 7'000'000'000'000, .error_ns = 100});
  EXPECT_TRUE(clock_.follows());
  EXPECT_EQ(clock_.at(now + 10), 7'000'000'000'010u);
  EXPECT_GE(clock_.now(), 7'000'000'000'000u);
  EXPECT_GE(clock_.error_ns(), 100u);
  EXPECT_NEAR(static_cast<double>(clock_.monotonic_at(7'000'000'001'000)), static_cast<double>(now + 1000),
              100);
  EXPECT_LT(clock_.monotonic_at(0), now);
  EXPECT_GT(clock_.monotonic_at(~std::uint64_t{0}), now);
}

TEST_F(JobClockTest, ReadersSeeWholeLinesOnly) {
  set_line(job_, line_number(1));
  std::atomic<bool> done = false;
  std::atomic<int> broken = 0;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!done.load(std::memory_order_relaxed)) {
        const CountLine line = clock_.last_line();
        if (!is_whole(line) || line.from_ns < last) ++broken;
        last = line.from_ns;
      }
    });
  }
  for (std::uint64_t n = 2; n < 200'000; ++n) set_line(job_, line_number(n));
  done = true;
  readers.clear();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(clock_.last_line().from_ns, 199'999u);
}

TEST_F(JobClockTest, ALineBeginsWhenItSays) {
  set_line(job_, {.from_ns = 1000, .count = 100});
  set_line(job_, {.from_ns = 2000, .count = 1500, .error_ns = 3});
  EXPECT_EQ(clock_.at(1999), 1099u);
  EXPECT_EQ(clock_.at(2000), 1500u);
  EXPECT_EQ(clock_.at(500), 100u);  // before the first one
  EXPECT_EQ(clock_.last_line().count, 1500u);
}

/// It has written some of the next line, and not said so.
TEST_F(JobClockTest, AWriterThatDiesInTheMiddleLeavesTheLastLine) {
  set_line(job_, line_number(8));
  set_line(job_, line_number(9));
  SharedCountLine& next = job_.count_line[(job_.count_lines.load() + 1) % 4];
  next.from_ns = 77;
  next.error_ns = 78;
  EXPECT_EQ(clock_.last_line().from_ns, 9u);
  set_line(job_, line_number(10));  // by the next one
  EXPECT_EQ(clock_.last_line().from_ns, 10u);
  EXPECT_TRUE(is_whole(clock_.last_line()));
}

}  // namespace am::host::job_clock_test
