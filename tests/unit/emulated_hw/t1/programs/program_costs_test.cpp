// What the programs cost, held to what the T1 report says of short handlers (3.9) and to the sums of their instructions.
#include "emulated_hw/t1/programs/program_costs.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/t1/programs/experiments.hpp"

namespace program_costs_test {

using namespace am::t1;

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

// 3.9: a vector of 32 words by "stealing only a few cycles from the CPU": fewer than a cycle per word.
TEST(T1ProgramCosts, AnOutletStealsLessThanACyclePerWord) {
  const Cycle stolen = program_costs().stolen_by_outlet;
  EXPECT_EQ(stolen, 4u + (1 + 3 + 8 + 1) + 5 + 3 + 1 + 1);
  EXPECT_LT(stolen, 32u);
}

}  // namespace program_costs_test
