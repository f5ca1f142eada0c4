// What messages cost on a CNS-1, held to the T1 report's text: on a processor (2.2.1, 3.4, 3.10), over the network, by multicast (3.9).
#include "emulated_hw/t1/programs/experiments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace experiments_test {

using namespace am::t1;

constexpr Send empty{};
constexpr Send five_words{.scalars = 5};
constexpr Send all_words{.scalars = 5, .vector = true};

TEST(T1Experiments, AMessageCostsLessThanTenCycles) {
  for (const Send& what : {empty, five_words, all_words}) {
    const MessageCosts costs = message_costs(what);
    EXPECT_EQ(costs.send, 5u) << "3.10: approximately 5";
    EXPECT_GE(costs.dispatch, 3u) << "3.8: 3-5";
    EXPECT_LE(costs.dispatch, 5u);
    EXPECT_EQ(costs.dispatch + costs.hret, 5u) << "3.10: about 5";
    EXPECT_LT(costs.send + costs.dispatch, 10u) << "2.2.1: for any size up to 37 words";
    EXPECT_EQ(failed_send_cost(what), costs.send);
  }
}

TEST(T1Experiments, ACriticalSectionAndAPollAreThreeInstructions) {
  EXPECT_EQ(critical_section_cost(), 3u);
  EXPECT_EQ(poll_cost(), 3u);
}

TEST(T1Experiments, ThereIsANodeAtEveryDistance) {
  for (const bool wraps : {false, true}) {
    const Mesh::Shape shape{.rows = 3, .columns = 5, .wraps = wraps};
    const std::vector<NodeNumber> nodes = one_at_each_distance(shape);
    ASSERT_EQ(nodes.size(), wraps ? 2u + 2 : 4u + 2);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      EXPECT_EQ(am::kit::distance(Machine(shape).mesh().grid(), 0, nodes[i]), i + 1);
  }
  EXPECT_TRUE(one_at_each_distance({}).empty());
}

TEST(T1Experiments, ARoundTripIsTheSumOfItsParts) {
  const Mesh::Shape shape{.rows = 4, .columns = 6};
  const std::vector<NodeNumber> nodes = one_at_each_distance(shape);
  for (unsigned hops = 1; hops <= nodes.size(); ++hops) {
    for (const Send& what : {empty, five_words, all_words}) {
      EXPECT_EQ(round_trip(shape, nodes[hops - 1], what), round_trip_parts(hops, what)) << hops;
      EXPECT_EQ(one_way(shape, nodes[hops - 1], what) * 2, round_trip_parts(hops, what)) << hops;
    }
  }
}

TEST(T1Experiments, AFloodIsAsFastAsItsSlowestPart) {
  const Mesh::Shape shape{.rows = 2, .columns = 5};
  for (const NodeNumber to : one_at_each_distance(shape)) {
    EXPECT_NEAR(flood(shape, to, empty).cycles_per_message, 5, 0.1) << "to dispatch and to return";
    EXPECT_NEAR(flood(shape, to, all_words).cycles_per_message, 10, 0.1) << "ten flits";
    EXPECT_NEAR(flood(shape, to, all_words).flits_per_cycle, 1, 0.01);
  }
}

// 3.9: "the distribution of data to an entire row or column of nodes takes only as long as it would take to send a unicast message to the
// far node, and consumes exactly as much network bandwidth".
TEST(T1Experiments, AMulticastAlongALineCostsWhatAUnicastToItsEndCosts) {
  const Mesh::Shape shape{.rows = 6, .columns = 7, .wraps = false};
  for (const Send& what : {empty, all_words}) {
    for (unsigned length = 2; length <= 6; ++length) {
      const Distribution row = multicast(shape, {.rows = 1, .columns = length}, what);
      EXPECT_EQ(row.took, one_way(shape, length - 1, what)) << length;
      EXPECT_EQ(row.receivers, length - 1);
      EXPECT_EQ(row.flits, (length - 1) * flits_of(what)) << "each link once";
      const Distribution column = multicast(shape, {.rows = length, .columns = 1}, what);
      EXPECT_EQ(column.took, one_way(shape, (length - 1) * 7, what)) << length;
      EXPECT_EQ(column.flits, (length - 1) * flits_of(what));
      const Distribution each = send_to_each(shape, {.rows = 1, .columns = length}, what);
      EXPECT_EQ(each.receivers, length - 1);
      EXPECT_EQ(each.flits, length * (length - 1) / 2 * flits_of(what))
          << "each link once for each behind it";
      if (length == 2)
        EXPECT_EQ(each.took, row.took) << "one message";
      else
        EXPECT_GT(each.took, row.took);
    }
  }
}

// Figure 9: the second phase is one more message, sent by a handler of the first one's farthest copy.
TEST(T1Experiments, APatchTakesTwoPhases) {
  const Mesh::Shape shape{.rows = 5, .columns = 6, .wraps = false};
  for (const Send& what : {empty, all_words}) {
    for (unsigned side = 2; side <= 5; ++side) {
      const Distribution patch = multicast(shape, {.rows = side, .columns = side}, what);
      EXPECT_EQ(patch.receivers, side * side - 1);
      EXPECT_EQ(patch.took, one_way(shape, (side - 1) * 6, what) + one_way(shape, side - 1, what)) << side;
      EXPECT_EQ(patch.flits, (side * side - 1) * flits_of(what)) << "a tree has a link for each but its root";
      const Distribution each = send_to_each(shape, {.rows = side, .columns = side}, what);
      EXPECT_EQ(each.receivers, patch.receivers);
      EXPECT_GT(each.flits, patch.flits);
      if (side > 2) {
        EXPECT_GT(each.took, patch.took) << side;
      }
    }
  }
}

// 3.9: a ring by "two multicasts, one each direction", or by one to the sender itself, which then goes all the way.
TEST(T1Experiments, ARingIsCoveredInTwoWays) {
  for (const unsigned columns : {2u, 3u, 6u, 7u}) {
    const Mesh::Shape shape{.rows = 1, .columns = columns};
    const Distribution both_ways = multicast(shape, {.rows = 1, .columns = columns}, five_words);
    EXPECT_EQ(both_ways.receivers, columns - 1);
    const Distribution round = multicast_round(shape, five_words);
    EXPECT_EQ(round.receivers, columns) << "its sender, too";
    EXPECT_EQ(round.flits, columns * flits_of(five_words));
    EXPECT_EQ(round.took, costs::send + in_network(columns, flits_of(five_words)) + costs::dispatch);
    if (columns > 3) {
      EXPECT_LT(both_ways.took, round.took);
    }
  }
}

TEST(T1Experiments, RefuseWhatIsNoPatch) {
  const Mesh::Shape shape{.rows = 2, .columns = 8};
  EXPECT_THROW(static_cast<void>(multicast(shape, {.rows = 3, .columns = 2}, {})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(multicast(shape, {.rows = 1, .columns = 6}, {})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(send_to_each(shape, {.rows = 0, .columns = 2}, {})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(multicast_round({.rows = 2, .columns = 8, .wraps = false}, {})),
               std::invalid_argument);
}

}  // namespace experiments_test
