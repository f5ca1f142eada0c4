// What LogP and the LOG model predict, by hand; and the example of am/logp.hpp.
#include <gtest/gtest.h>
#include <am/logp.hpp>

namespace am::logp {
namespace network_test {

constexpr Network some{.o_send = 3, .o_recv = 4, .latency = 10, .gap = 9, .gap_per_byte = 0.5};

TEST(Network, AMessageIsSentTravelsAndIsReceived) {
  EXPECT_DOUBLE_EQ(one_way(some), 3 + 10 + 4);
  EXPECT_DOUBLE_EQ(one_way(some, 100), 3 + 10 + 4 + 50);
  EXPECT_DOUBLE_EQ(round_trip(some), 2 * 17);
  EXPECT_DOUBLE_EQ(round_trip(some, 100), 34 + 50);
  EXPECT_DOUBLE_EQ(round_trip(some, 100, 10), 34 + 50 + 5);
}

TEST(Network, ABurstIsHeldUpByTheNetworkOrByTheProcessor) {
  EXPECT_DOUBLE_EQ(interval(some), 9);
  Network fast = some;
  fast.gap = 1;
  EXPECT_DOUBLE_EQ(interval(fast), 3);
  EXPECT_DOUBLE_EQ(burst(some, 1), one_way(some));
  EXPECT_DOUBLE_EQ(burst(some, 11), 10 * 9 + 17);
  EXPECT_DOUBLE_EQ(answered_burst(some, 1), round_trip(some));
  EXPECT_DOUBLE_EQ(answered_burst(fast, 11), 10 * 3 + 34);
}

TEST(Phases, LatencyCountsBeyondTheSlackOnly) {
  const Overheads overheads{.per_message = 5, .per_word = 2, .latency = 30};
  Phase phase{.computation = 100, .messages = 4, .words = 3, .slack = 30};
  EXPECT_DOUBLE_EQ(execution_time(phase, overheads), 100 + 4 * (5 + 3 * 2));
  phase.slack = 29;
  EXPECT_DOUBLE_EQ(execution_time(phase, overheads), 144 + 1);
  phase.slack = -10;  // sent after it was needed
  EXPECT_DOUBLE_EQ(execution_time(phase, overheads), 144 + 40);
  EXPECT_DOUBLE_EQ(execution_time(phase, overheads, 1000), 184'000);
}

TEST(Phases, ANetworkHasOverheads) {
  const Overheads overheads = overheads_of(some);
  EXPECT_DOUBLE_EQ(overheads.per_message, 3 + 4);
  EXPECT_DOUBLE_EQ(overheads.per_word, 4);
  EXPECT_DOUBLE_EQ(overheads.latency, 10);
  EXPECT_DOUBLE_EQ(overheads.occupancy(3), 7 + 3 * 4);
}

TEST(Phases, AnExampleIsAsItsHeaderSays) {
  const Network it{.o_send = 2500, .o_recv = 1200, .latency = 900, .gap = 3700, .gap_per_byte = 0.2};
  EXPECT_NEAR(round_trip(it), 9200, 0.5);
  EXPECT_NEAR(one_way(it, 1 << 20) / 1e6, 0.21, 0.005);
  EXPECT_NEAR(execution_time({.computation = 400 * 20, .messages = 40}, overheads_of(it), 100) / 1e6, 15.7,
              0.05);
  EXPECT_NEAR(
      execution_time({.computation = 400 * 20, .messages = 1, .words = 40}, overheads_of(it), 100) / 1e6, 1.3,
      0.05);
}

}  // namespace network_test
}  // namespace am::logp
