// A host follows another one's clock through a network of any delay, both of them simulated: Count never goes back, never differs
// by more than it says, and comes close.
#include "core/membership/clock_follower.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace am::core::clock_follower_test {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t millisecond = 1'000'000;

/// True time passes here; both clocks are functions of it, in steps, so that their speeds may change.
class ClocksOfTwoHosts : public testing::Test {
 protected:
  void pass(std::uint64_t ns) {
    other_ += static_cast<double>(ns) * (1 + other_ppm * 1e-6);
    own_ += static_cast<double>(ns) * (1 + own_ppm * 1e-6);
  }
  [[nodiscard]] std::uint64_t own() const { return static_cast<std::uint64_t>(own_); }
  [[nodiscard]] std::uint64_t other() const { return static_cast<std::uint64_t>(other_); }
  [[nodiscard]] std::uint64_t true_count() const { return other() - epoch; }

  void ask(std::uint64_t there_ns, std::uint64_t back_ns) {
    const std::uint64_t asked = own();
    pass(there_ns);
    const std::uint64_t told = other();
    pass(back_ns);
    follower_.heard(asked, told, own());
    line_ = follower_.line(epoch, begun_ ? std::optional(line_) : std::nullopt, own());
    begun_ = true;
    look();
  }
  void look() {
    const std::uint64_t count = line_.at(own());
    EXPECT_GE(count, last_);
    last_ = count;
    EXPECT_LE(difference(), line_.error_at(own())) << "at " << true_count();
  }
  [[nodiscard]] std::uint64_t difference() const {
    const std::uint64_t count = line_.at(own());
    return std::max(count, true_count()) - std::min(count, true_count());
  }
  void pass_looking(std::uint64_t ns, std::uint64_t step = millisecond) {
    for (std::uint64_t gone = 0; gone < ns; gone += step) {
      pass(step);
      look();
    }
  }

  test::Random random_{test::seed()};
  double other_ppm = 0;
  double own_ppm = 0;
  double other_ = 5e15;
  double own_ = 3e12;
  const std::uint64_t epoch = other() - 7 * second;
  ClockFollower follower_;
  host::CountLine line_;
  bool begun_ = false;
  std::uint64_t last_ = 0;
};

/// Whatever the delays, and however much of them on one way.
TEST_F(ClocksOfTwoHosts, ItNeverDiffersByMoreThanItSays) {
  for (int run = 0; run < 50; ++run) {
    follower_ = {};
    begun_ = false;
    last_ = 0;
    other_ppm = static_cast<double>(random_.below(180)) - 90;
    own_ppm = static_cast<double>(random_.below(180)) - 90;
    for (int question = 0; question < 200; ++question) {
      const std::uint64_t slow = random_.one_in(10) ? 20 * millisecond : 50'000;
      ask(random_.below(slow), random_.below(slow));
      pass_looking(random_.below(500) * millisecond, 5 * millisecond);
      if (random_.one_in(20)) own_ppm += static_cast<double>(random_.below(20)) - 10;
      own_ppm = std::clamp(own_ppm, -100.0, 100.0);
    }
  }
}

/// While nobody answers it runs at the other's speed, as far as that is known by then.
TEST_F(ClocksOfTwoHosts, DriftIsFollowedAlsoWhileNothingIsHeard) {
  own_ppm = 80;
  for (int i = 0; i < 240; ++i) {
    ask(30'000, 30'000);
    pass_looking(250 * millisecond, 10 * millisecond);
  }
  EXPECT_LE(difference(), 30'000u);
  const std::uint64_t before = difference();
  pass_looking(10 * second, 10 * millisecond);
  // Without that it would be off by 800 us.
  EXPECT_LE(difference(), before + 150'000);
}

TEST_F(ClocksOfTwoHosts, TheFastestAnswerOfManyCounts) {
  ask(5 * millisecond, 0);
  EXPECT_GE(line_.error_at(own()), 2 * millisecond);
  for (int i = 0; i < 10; ++i) ask(millisecond, 3 * millisecond);
  ask(10'000, 10'000);
  for (int i = 0; i < 10; ++i) ask(0, 8 * millisecond);
  pass_looking(1200 * millisecond);  // what it was off by has been made good
  EXPECT_LE(difference(), 300'000u);
}

/// A line that is ahead goes more slowly; it does not stand still.
TEST_F(ClocksOfTwoHosts, WhatIsAheadWaits) {
  ask(10'000, 10'000);
  line_.count += 50 * millisecond;
  line_.error_ns += 50 * millisecond;
  last_ = line_.at(own());
  ask(10'000, 10'000);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = line_.at(own());
    pass_looking(100 * millisecond);
    EXPECT_GE(line_.at(own()) - before, 85 * millisecond);
  }
  pass_looking(second);
  EXPECT_LE(difference(), 300'000u);
}

/// As that of a virtual machine that was stopped.
TEST_F(ClocksOfTwoHosts, AClockThatHasStoodStillIsFollowedAnew) {
  for (int i = 0; i < 10; ++i) {
    ask(10'000, 10'000);
    pass(100 * millisecond);
  }
  other_ += 5e9;
  ask(10'000, 10'000);
  EXPECT_LE(difference(), 50'000u);
  other_ -= 2e7;
  const std::uint64_t before = line_.at(own());
  ask(10'000, 10'000);
  EXPECT_GE(line_.at(own()), before);
  pass(second);
  EXPECT_LE(difference(), millisecond);
}

TEST(CountLine, NeverGoesBackFromOneNanosecondToTheNext) {
  for (const host::ClockRate rate : {-host::largest_drift, host::ClockRate{-1}, host::largest_drift}) {
    for (const host::ClockRate catch_up :
         {-host::clock_rate_one / 10, host::ClockRate{-7}, host::ClockRate{0}}) {
      const host::CountLine line{
          .from_ns = 1000, .count = 5000, .rate = rate, .catch_up = catch_up, .for_ns = (1u << 20) + 77};
      EXPECT_EQ(line.at(0), 5000u);
      std::uint64_t last = 0;
      for (std::uint64_t now = 900; now < 2'300'000; ++now) {
        const std::uint64_t count = line.at(now);
        ASSERT_GE(count, last) << now;
        last = count;
      }
    }
  }
}

TEST(CountLine, HoldsForAYear) {
  constexpr std::uint64_t year = 365 * 86400 * second;
  const host::CountLine line{.from_ns = 5, .count = 0, .rate = host::largest_drift};
  EXPECT_NEAR(static_cast<double>(line.at(5 + year)), static_cast<double>(year) * 1.0002, 1e6);
  EXPECT_NEAR(static_cast<double>(line.error_at(5 + year)), static_cast<double>(year) * 0.0004, 1e6);
  const host::CountLine slow{.from_ns = 5, .count = 0, .rate = -host::largest_drift};
  EXPECT_NEAR(static_cast<double>(slow.at(5 + year)), static_cast<double>(year) * 0.9998, 1e6);
}

}  // namespace am::core::clock_follower_test
