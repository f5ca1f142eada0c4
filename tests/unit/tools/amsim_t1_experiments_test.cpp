// What messages cost on a CNS-1, held to the T1 report's text: on a processor (2.2.1, 3.4, 3.10), over the network, by multicast (3.9);
// and what programs cost that are made of them.
#include "amsim/t1/experiments.hpp"

#include <gtest/gtest.h>

#include "amsim/t1/program_costs.hpp"

namespace amsim_t1_experiments_test {

using namespace amsim::t1;

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

TEST(T1Experiments, ARoundTripIsTheSumOfItsParts) {
  const Mesh::Shape shape{.rows = 4, .columns = 6};
  const std::vector<NodeNumber> nodes = one_at_each_distance(shape);
  ASSERT_EQ(nodes.size(), 3u + 3) << "rows wrap";
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

// -- what programs cost, held to the sums of their instructions -------------------------------------------------------------------

// 3.9: "a short software handler may require a total (dispatch, execution, and return) of only about 10 cycles".
TEST(T1ProgramCosts, ShortHandlersTakeAboutTenCycles) {
  const ProgramCosts costs = program_costs();
  EXPECT_EQ(costs.put_handler, 4u + (1 + 5) + 1);
  EXPECT_EQ(costs.done_handler, 4u + 1 + 1);
  EXPECT_EQ(costs.inlet, 4u + 5 + 1);
  EXPECT_EQ(costs.posting_inlet, 4u + (5 + 5) + 1);
}

// 2.2.1: round trips are the ways and what processors do at both ends; who waits looks every other cycle.
TEST(T1ProgramCosts, OperationsAreTheSumOfTheirParts) {
  const ProgramCosts costs = program_costs();
  const Cycle there = in_network(1, 2) + 4, back = in_network(1, 1) + 4;
  const auto expect_waited_for = [](Cycle took, Cycle sum) {
    EXPECT_GT(took, sum);
    EXPECT_LE(took, sum + 1 + 2);  // HRET, and the loop
  };
  expect_waited_for(costs.put, 4 + 5 + there + (1 + 5) + back + 1);
  expect_waited_for(costs.get, 4 + 5 + there + (2 + 5) + back + 2);
  expect_waited_for(costs.fetch_and_add, 3 + 5 + in_network(1, 1) + 4 + (3 + 5) + back + 2);
}

// 3.9: "a large amount of data can be transferred while stealing only a few cycles from the CPU", fewer than one per word. For a piece
// of 32 words: to dispatch 4, to look whether there is something and load it 1 + 3 + 8 + 1, SEND 5, three sums, two branches, HRET 1.
TEST(T1ProgramCosts, AnOutletStealsLessThanACyclePerWord) {
  const Cycle stolen = program_costs().stolen_by_outlet;
  EXPECT_EQ(stolen, 4u + (1 + 3 + 8 + 1) + 5 + 3 + 1 + 1);
  EXPECT_LT(stolen, 32u);
}

// -- gets and puts, by handlers in hardware and in software ---------------------------------------------------------------------

TEST(T1TransferCosts, AGetIsTheSumOfItsParts) {
  const TransferCosts hardware = get_costs(HandledBy::hardware, 1);
  const TransferCosts software = get_costs(HandledBy::software, 1);
  EXPECT_EQ(software.took, program_costs().get);
  EXPECT_EQ(hardware.asking, 6u + 5);
  EXPECT_EQ(hardware.answered, 4u + 2 + 1);
  EXPECT_EQ(hardware.stolen, 0u);
  EXPECT_EQ(software.stolen, 4u + (2 + 5) + 1);
  const Cycle sum = hardware.asking + in_network(1, 2) + (1 + 1 + 1) + in_network(1, 1) + 4 + 2;
  EXPECT_GT(hardware.took, sum);
  EXPECT_LE(hardware.took, sum + 1 + 2) << "HRET, and the loop";
}

// 3.9: what hardware saves is what processors spend on each piece of 32 words.
TEST(T1TransferCosts, BlocksByHardwareTakeNothingOfHandlersButTheLast) {
  constexpr Word pieces = 32, words = pieces * most_vector;
  const TransferCosts get = get_costs(HandledBy::hardware, words);
  EXPECT_EQ(get.stolen, 0u);
  EXPECT_EQ(get.answered, 4u + (1 + 1 + 8 + 1) + 1);
  EXPECT_EQ(get.asking, (pieces - 1) * (5u + 5 + 3) + 6 + 5);
  const TransferCosts put = put_costs(HandledBy::hardware, words);
  EXPECT_EQ(put.stolen, 4u + (1 + 5) + 1);
  EXPECT_EQ(put.answered, 4u + 1 + 1);
  const TransferCosts get_by_software = get_costs(HandledBy::software, words);
  EXPECT_EQ(get_by_software.stolen, pieces * (4u + (8 + 2 + 5) + 1));
  EXPECT_EQ(get_by_software.answered, pieces * (4u + (1 + 1 + 8 + 1) + 1));
  const TransferCosts put_by_software = put_costs(HandledBy::software, words);
  EXPECT_EQ(put_by_software.stolen, pieces * (4u + (1 + 1 + 8 + 5) + 1));
  EXPECT_EQ(put_by_software.answered, pieces * (4u + 1 + 1));
  EXPECT_EQ(put_costs(HandledBy::software, most_vector).asking, 3u + 8 + 1 + 5 + 3)
      << "3.2: 128 bits a cycle";
}

}  // namespace amsim_t1_experiments_test
