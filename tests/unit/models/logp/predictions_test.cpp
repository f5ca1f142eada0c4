// What LogP and the LOG model predict, by hand; and LIFE under the LOG model beside what the thesis says in words (7.2.1, 7.2.2, 7.3),
// each within what can be read off a figure.
#include <gtest/gtest.h>
#include <am/logp.hpp>
#include <am/logp/life.hpp>

namespace am::logp::predictions_test {

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

// -- LIFE

const Life life;

Overheads occupancy(double per_message_cycles) {
  return {.per_message = per_message_cycles, .per_word = 1, .latency = 0};
}
Overheads latency(double cycles) { return {.per_message = 0, .per_word = 1, .latency = cycles}; }

// 7.2.1: 8, 12 and 20 messages of 1, 4 and 16 cells; 78 cycles of slack, or 33.
TEST(Life, APhaseIsThatOfTheThesis) {
  EXPECT_DOUBLE_EQ(life.phase(1).messages, 8);
  EXPECT_DOUBLE_EQ(life.phase(4).messages, 12);
  EXPECT_DOUBLE_EQ(life.phase(16).messages, 20);
  EXPECT_DOUBLE_EQ(life.phase(1).slack, 78);
  EXPECT_DOUBLE_EQ(life.phase(4).slack, 33);
  EXPECT_DOUBLE_EQ(life.generation_cycles(1, mmachine_overheads()), 35 + 8 * 7);
  EXPECT_DOUBLE_EQ(life.generation_cycles(16, mmachine_overheads()), 16 * 35 + 20 * 7);
}

TEST(Life, LatencyCountsFromTheSlackOn) {
  for (const double cells : {1.0, 4.0, 16.0}) {
    const double slack = life.phase(cells).slack;
    const double least = life.generation_cycles(cells, latency(0));
    EXPECT_DOUBLE_EQ(life.generation_cycles(cells, latency(slack)), least);
    EXPECT_DOUBLE_EQ(life.generation_cycles(cells, latency(slack + 7)), least + 7);
  }
}

// Footnote 5: (sqrt n - 4)^2 C_cell, from where that is more.
TEST(Life, InnerCellsGiveSlack) {
  Life patient;
  patient.inner_cells_last = true;
  for (const double cells : {1.0, 4.0, 16.0})
    EXPECT_DOUBLE_EQ(patient.phase(cells).slack, life.phase(cells).slack);
  EXPECT_DOUBLE_EQ(patient.phase(64).slack, 16 * 35);
}

// Figure 7-14: 60% at zero overhead, 34% at 5 cycles, less than 4% at 100; a latency of up to some 200 cycles does not do as much.
TEST(Life, OverheadLimitsPerformance) {
  EXPECT_NEAR(life.best_part_of_linear(occupancy(0)), 0.60, 0.01);
  EXPECT_NEAR(life.best_part_of_linear(occupancy(5)), 0.34, 0.005);
  EXPECT_LT(life.best_part_of_linear(occupancy(100)), 0.04);
  EXPECT_DOUBLE_EQ(life.best_part_of_linear(latency(78)), life.best_part_of_linear(latency(0)));
  EXPECT_GT(life.best_part_of_linear(latency(200)), 4 * life.best_part_of_linear(occupancy(100)));
}

// Figure 7-15: of 16384 cells.
TEST(Life, OverheadLimitsSpeedup) {
  const Life::Spread low = life.fastest(16384, mmachine_overheads(), 0.3);
  EXPECT_EQ(low.cells, 1u);
  EXPECT_EQ(low.nodes, 16384u);
  EXPECT_GT(low.speedup, 5000);
  const Life::Spread high = life.fastest(16384, occupancy(100), 0.3);
  EXPECT_EQ(high.cells, 64u);
  EXPECT_EQ(high.nodes, 256u);
  EXPECT_LT(high.speedup, 100);
}

// Figure 7-16: 256 nodes are of use to 256 cells up to 7 cycles (here 6.5), to 16384 cells up to 120.
TEST(Life, OverheadLimitsMachines) {
  EXPECT_NEAR(life.greatest_per_message_cycles(1, occupancy(0), 0.3), 7, 0.5);
  EXPECT_NEAR(life.greatest_per_message_cycles(64, occupancy(0), 0.3), 120, 1);
  EXPECT_EQ(life.largest(256, occupancy(6), 0.3).nodes, 256u);
  EXPECT_EQ(life.largest(256, occupancy(7), 0.3).nodes, 64u);
  EXPECT_EQ(life.largest(16384, occupancy(119), 0.3).nodes, 256u);
  EXPECT_EQ(life.largest(16384, occupancy(121), 0.3).nodes, 64u);
  EXPECT_EQ(life.largest(4096, occupancy(119), 0.3).nodes, 64u);
}

// Figure 7-17: at 7 cycles or less, 50% with 4 cells on each node, 75% with 64.
TEST(Life, OverheadLimitsEfficiency) {
  EXPECT_GE(life.efficiency(4, occupancy(7)), 0.495);
  EXPECT_LT(life.efficiency(1, occupancy(7)), 0.5);
  EXPECT_GE(life.efficiency(64, occupancy(7)), 0.75);
  EXPECT_LT(life.efficiency(16, occupancy(7)), 0.75);
}

TEST(Life, TheGreatestOverheadIsTheOneThatIsStillEfficient) {
  for (const double cells : {1.0, 4.0, 16.0, 64.0, 256.0}) {
    for (const double part : {0.1, 0.3, 0.5}) {
      Overheads overheads{.per_message = 0, .per_word = 1, .latency = 100};
      overheads.per_message = life.greatest_per_message_cycles(cells, overheads, part);
      EXPECT_NEAR(life.efficiency(cells, overheads), part, 1e-12) << cells;
    }
  }
  EXPECT_LT(life.greatest_per_message_cycles(1, occupancy(0), 0.7), 0);
}

TEST(Life, OneNodeIsAlwaysLeft) {
  const Life::Spread alone = life.fastest(64, occupancy(10'000), 0.3);
  EXPECT_EQ(alone.cells, 64u);
  EXPECT_EQ(alone.nodes, 1u);
  EXPECT_DOUBLE_EQ(alone.speedup, 1);
  EXPECT_EQ(life.largest(64, occupancy(10'000), 0.3).nodes, 1u);
}

}  // namespace am::logp::predictions_test
