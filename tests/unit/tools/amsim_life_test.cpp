// Life on M-Machines of 1, 4, 16 and 64 nodes (thesis, 7.2): the same boards as by the rules alone, the messages that the thesis counts,
// and what more nodes, latency and occupancy do to its time.
#include "amsim/papers/life.hpp"

#include <gtest/gtest.h>

#include "support/cells.hpp"
#include "support/random.hpp"

namespace amsim_life_test {

using namespace amsim::chapter_7;

LifeBoard random_board(unsigned side, std::uint64_t seed) {
  test::Random random(seed);
  LifeBoard board(std::size_t{side} * side);
  for (std::uint8_t& cell : board) cell = random.one_in(3) ? 1 : 0;
  return board;
}

TEST(Life, TheRulesAreConways) {
  // A blinker turns, a block stays, and a lone cell dies.
  const LifeBoard blinker = {0, 0, 0, 0, 0,  //
                             0, 0, 1, 0, 0,  //
                             0, 0, 1, 0, 0,  //
                             0, 0, 1, 0, 0,  //
                             0, 0, 0, 0, 0};
  const LifeBoard turned = {0, 0, 0, 0, 0,  //
                            0, 0, 0, 0, 0,  //
                            0, 1, 1, 1, 0,  //
                            0, 0, 0, 0, 0,  //
                            0, 0, 0, 0, 0};
  EXPECT_EQ(next_generation(blinker, 5), turned);
  EXPECT_EQ(next_generation(turned, 5), blinker);
  // Over the edges of the torus.
  LifeBoard block(25);
  for (const unsigned cell : {0u, 4u, 20u, 24u}) block[cell] = 1;
  EXPECT_EQ(next_generation(block, 5), block);
  LifeBoard lone(25);
  lone[12] = 1;
  EXPECT_EQ(next_generation(lone, 5), LifeBoard(25));
}

/// At each generation, when all nodes have come to it, and after many in which some are ahead of others.
TEST(Life, BoardsAreAsByTheRules) {
  // A sanitizer sees nothing after a hundred that it has not seen before.
  const unsigned many = test::build == test::Build::plain ? 1000 : 100;
  for (const unsigned nodes_side : {1u, 2u, 4u, 8u}) {
    for (const auto& [side, latency, at_once] : {std::tuple{8u, 0u, many}, {16u, nodes_side * 20, 5u}}) {
      SCOPED_TRACE(nodes_side);
      LifeBoard expected = random_board(side, test::seed() + nodes_side);
      Life life(expected, {.side = side, .nodes_side = nodes_side, .extra_latency = latency});
      for (int generation = 0; generation < 10; ++generation) {
        expected = next_generation(expected, side);
        life.run(1);
        ASSERT_EQ(life.board(), expected);
      }
      for (unsigned generation = 0; generation < at_once; ++generation)
        expected = next_generation(expected, side);
      life.run(at_once);
      EXPECT_EQ(life.board(), expected);
    }
  }
}

/// What passes the network, where and when. A change that means to change it says why.
TEST(Life, DoesWhatItEverDid) {
  Life life(random_board(16, 1), {.side = 16, .nodes_side = 4});
  EXPECT_EQ(life.run(10), 7387u);
  EXPECT_EQ(life.fingerprint(), 13577172902298251340u);
}

/// "In general, 4 (1 + sqrt(n)) messages are required for an n-cells/node configuration."
TEST(Life, AsManyMessagesAsTheThesisCounts) {
  for (const auto& [nodes_side, messages] : {std::pair{1u, 0u}, {2u, 20u}, {4u, 12u}, {8u, 8u}})
    EXPECT_EQ(Life(LifeBoard(64), {.nodes_side = nodes_side}).messages(), messages);
}

TEST(Life, MoreNodesTakeLessTimeAndOverheadMore) {
  constexpr unsigned generations = 15;
  const LifeBoard board = random_board(8, 1);
  Cycle before = ~Cycle{0};
  for (const unsigned nodes_side : {1u, 2u, 4u, 8u}) {
    const auto cycles = [&](Cycle latency, unsigned occupancy) {
      return Life(board, {.nodes_side = nodes_side, .extra_latency = latency, .extra_occupancy = occupancy})
          .run(generations);
    };
    const Cycle plain = cycles(0, 0);
    EXPECT_LT(plain, before);
    before = plain;
    if (nodes_side == 1) {
      EXPECT_EQ(plain, generations * (64 * Life::cell_cycles + Life::phase_cycles));
      EXPECT_EQ(cycles(200, 100), plain);
      continue;
    }
    // Each cycle of occupancy is had once for each message.
    const unsigned messages = 4 * (1 + 8 / nodes_side);
    EXPECT_NEAR(static_cast<double>(cycles(0, 100) - plain), 1.0 * generations * messages * 100,
                0.3 * generations * messages * 100);
    // Behind the slack, each of latency once in a generation.
    EXPECT_NEAR(static_cast<double>(cycles(400, 0) - cycles(300, 0)), 1.0 * generations * 100,
                10.0 * generations);
  }
}

TEST(Life, WhatCannotBeIsRefused) {
  EXPECT_THROW(Life(LifeBoard(64), {.nodes_side = 3}), std::invalid_argument);
  EXPECT_THROW(Life(LifeBoard(64), {.nodes_side = 0}), std::invalid_argument);
  EXPECT_THROW(Life(LifeBoard(36), {.side = 6, .nodes_side = 3}), std::invalid_argument);
  EXPECT_THROW(Life(LifeBoard(63), {}), std::invalid_argument);
}

}  // namespace amsim_life_test
