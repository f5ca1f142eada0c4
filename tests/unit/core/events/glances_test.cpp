// When a node that polls shared memory glances at its other networks: by a clock of the test. How long one that waits polls.
#include "core/events/glances.hpp"

#include <am/impl/waiter.hpp>

#include "support/job.hpp"

namespace am::core::glances_test {

std::uint64_t time_ns = 0;
std::uint64_t looks = 0;

struct TestClock {
  static std::uint64_t ticks() noexcept {
    ++looks;
    return time_ns * 5 / 2;
  }
  static std::uint64_t ns() noexcept { return time_ns; }
};

class GlancesTest : public testing::Test {
 protected:
  GlancesTest() {
    time_ns = begin;
    looks = 0;
  }
  /// So many polls, of which each takes so long and brings so many messages: how many glances.
  int poll(int polls, std::uint64_t each_ns, std::size_t messages = 0) {
    int glances = 0;
    longest_ns_ = 0;
    for (int i = 0; i < polls; ++i) {
      time_ns += each_ns;
      if (glances_.is_due()) {
        ++glances;
        longest_ns_ = std::max(longest_ns_, time_ns - last_ns_);
        last_ns_ = time_ns;
      } else {
        glances_.ran(messages);
      }
    }
    return glances;
  }

  static constexpr std::uint64_t begin = 1'000'000'000;
  BasicGlances<TestClock> glances_;
  std::uint64_t last_ns_ = begin;
  std::uint64_t longest_ns_ = 0;
};

TEST_F(GlancesTest, PollsThatFindNothingGlanceEveryTwoMicroseconds) {
  poll(3, 10);  // how fast the processor's clock is has to be learnt
  for (const std::uint64_t each_ns : {10u, 60u, 300u, 500u}) {
    EXPECT_NEAR(poll(100'000, each_ns), 1e5 * static_cast<double>(each_ns) / 2000, 1e4);
    EXPECT_LE(longest_ns_, 2'000u + each_ns);
  }
}

TEST_F(GlancesTest, PollsThatFindMessagesGlanceLessOften) {
  poll(3, 10);
  poll(1'000, 10, 1);
  EXPECT_NEAR(poll(1'000'000, 10, 1), 10e6 / 50'000, 20);
  EXPECT_LE(longest_ns_, 50'010u);
}

TEST_F(GlancesTest, SlowPollsGlanceEachTimeHoweverQuickTheOthersWere) {
  poll(10'000, 10);
  EXPECT_EQ(poll(100, 1'000'000), 100);
  poll(10'000, 10, 1);
  EXPECT_EQ(poll(100, 1'000'000, 5), 100);
}

TEST_F(GlancesTest, WhoPollsQuicklyLooksAtTheTimeLessOften) {
  poll(3, 10);
  glances_.polls_come(true);
  looks = 0;
  EXPECT_NEAR(poll(1'000'000, 10), 5000, 300);
  EXPECT_LE(longest_ns_, 2'090u);
  EXPECT_LE(looks, 135'000u);
  glances_.polls_come(false);
  EXPECT_EQ(poll(100, 1'000'000), 100);
}

/// On another processor it may be another time.
TEST_F(GlancesTest, AClockThatJumpsIsNoMatter) {
  poll(10'000, 10);
  time_ns -= 500'000'000;
  EXPECT_GE(poll(1000, 10), 4);
  time_ns += 900'000'000;
  EXPECT_GE(poll(1000, 10), 4);
  last_ns_ = time_ns;
  EXPECT_NEAR(poll(100'000, 10), 500, 10);
}

// -- by the real clock: how long a node that waits polls before it lets others have the processor -------------------------------

/// Polls in vain before the node sleeps, each of which takes so long.
int polls_before_sleep(impl::Waiter& waiter, std::uint64_t poll_ns) {
  int polls = 0;
  for (; !waiter.sleeps_next(); ++polls) {
    const std::uint64_t end = host::monotonic_ns() + poll_ns;
    while (host::monotonic_ns() < end) {
    }
    waiter.idle();
  }
  return polls;
}

// By polls that it counts alone it would spin for a second: two jobs of an emulated network on two processors, whose windows
// are a few messages long, took turns of 1 ms, and were a hundred times slower than one.
TEST(Waiter, SpinsNoLongerWherePollsTakeLonger) {
  test::run_job({test::Nodes::threads}, 1, [](Node& node) {
    impl::Waiter waiter(node.engine(), "a test");
    constexpr int enough = 300;  // two looks at the clock, and as many yields as there are
    test::check(polls_before_sleep(waiter, 100'000) <= enough, "spins by the clock");
    waiter.worked();
    const int polls = polls_before_sleep(waiter, 100'000);
    test::check(polls <= enough, "and again, after something happened");
    test::check(polls > 64, "from then on");
  });
}

}  // namespace am::core::glances_test
