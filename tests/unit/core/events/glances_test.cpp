// When a node that polls shared memory glances at its other networks: by a clock of the test.
#include "core/events/glances.hpp"

#include <gtest/gtest.h>

namespace am::core {
namespace {

std::uint64_t time_ns = 0;
std::uint64_t looks = 0;
std::uint64_t clock() {
  ++looks;
  return time_ns;
}

class GlancesTest : public testing::Test {
 protected:
  GlancesTest() {
    time_ns = 1'000'000'000;
    looks = 0;
  }
  /// So many polls, of which each takes so long and brings so many messages: how many glances.
  int poll(int polls, std::uint64_t each_ns, std::size_t messages = 0) {
    int glances = 0;
    for (int i = 0; i < polls; ++i) {
      time_ns += each_ns;
      if (glances_.is_due(clock)) {
        ++glances;
        longest_ns_ = std::max(longest_ns_, time_ns - last_ns_);
        last_ns_ = time_ns;
      } else {
        glances_.ran(messages);
      }
    }
    return glances;
  }

  Glances glances_;
  std::uint64_t last_ns_ = 1'000'000'000;
  std::uint64_t longest_ns_ = 0;
};

TEST_F(GlancesTest, TheFirstPollGlances) { EXPECT_EQ(poll(1, 10), 1); }

TEST_F(GlancesTest, PollsThatFindNothingGlanceEveryTwoMicroseconds) {
  poll(1, 10);
  EXPECT_NEAR(poll(1'000'000, 10), 10e6 / 2000, 1000);
  EXPECT_LE(longest_ns_, 2'600u);
  EXPECT_LE(looks, 1'000'000u / 25);  // at the clock
}

TEST_F(GlancesTest, PollsThatFindMessagesGlanceLessOften) {
  poll(1, 10, 1);
  EXPECT_NEAR(poll(1'000'000, 10, 1), 10e6 / 50'000, 20);
  EXPECT_LE(longest_ns_, 50'600u);
}

TEST_F(GlancesTest, SlowPollsGlanceEachTime) {
  poll(100, 1'000'000);
  EXPECT_EQ(poll(100, 1'000'000), 100);
  EXPECT_EQ(poll(100, 1'000'000, 5), 100);
}

/// The first slow ones may be some of those between two looks at the clock.
TEST_F(GlancesTest, PollsThatBecomeSlowGlanceSoon) {
  poll(10'000, 10);
  EXPECT_GE(poll(100, 1'000'000), 100 - 32);
}

}  // namespace
}  // namespace am::core
