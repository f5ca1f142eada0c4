// What gets and puts cost by handlers in hardware and in software, held to the sums of their parts (T1 report, 3.9).
#include "emulated_hw/t1/programs/transfer_costs.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/t1/programs/experiments.hpp"
#include "emulated_hw/t1/programs/program_costs.hpp"

namespace transfer_costs_test {

using namespace am::t1;

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
}

}  // namespace transfer_costs_test
