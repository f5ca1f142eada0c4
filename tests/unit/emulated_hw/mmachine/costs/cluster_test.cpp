// The issue rules of a cluster, by examples worked out by hand from 3.1 and the text to Figure 3-2.
#include "emulated_hw/mmachine/costs/cluster.hpp"

#include <gtest/gtest.h>

#include <array>

namespace am::mmachine::costs::cluster_test {

TEST(Cluster, AResultIsThereInTheFollowingCycle) {
  Cluster cluster;
  const Register a = cluster.compute();
  EXPECT_EQ(a.ready, 1u);
  EXPECT_EQ(cluster.compute(a).ready, 2u);
  EXPECT_EQ(cluster.slots(), 2u);
}

TEST(Cluster, OperationsIssueTogetherWhereEachHasAUnit) {
  Cluster three;
  EXPECT_EQ(three.move({}).ready, 1u);
  EXPECT_EQ(three.load().ready, load_cycles);
  EXPECT_EQ(three.issue({.unit = Unit::falu}).ready, 1u);
  EXPECT_EQ(three.compute().ready, 2u) << "the fourth";
  Cluster integers;
  for (const Cycle ready : {1u, 1u, 2u}) EXPECT_EQ(integers.compute().ready, ready);
  Cluster moves;
  for (const Cycle ready : {1u, 2u}) EXPECT_EQ(moves.move({}).ready, ready) << "one a cycle";
  Cluster memory;
  (void)memory.lea();
  EXPECT_EQ(memory.load().ready, 1 + load_cycles) << "pointers and memory share a unit";
}

TEST(Cluster, IssuesInOrder) {
  Cluster cluster;
  const Register loaded = cluster.load();
  EXPECT_EQ(cluster.compute(loaded).ready, load_cycles + 1);
  EXPECT_EQ(cluster.lea().ready, load_cycles + 1) << "beside the one that waited, not before it";
  EXPECT_EQ(cluster.lea().ready, load_cycles + 2);
}

TEST(Cluster, WhatIsWrittenTogetherIssuesTogether) {
  Cluster cluster;
  const Register loaded = cluster.load();
  const std::array instruction{Operation{.unit = Unit::ialu, .reads = {loaded}},
                               Operation{.unit = Unit::memu}};
  std::array<Register, 2> results;
  cluster.issue(instruction, results);
  EXPECT_EQ(results[0].ready, load_cycles + 1);
  EXPECT_EQ(results[1].ready, load_cycles + 1) << "waits for the other's operand";
  EXPECT_EQ(cluster.issue({.unit = Unit::falu}).ready, load_cycles + 2) << "nothing else joins";
}

TEST(Cluster, AJumpDelaysWhatFollows) {
  Cluster cluster;
  cluster.jump({.ready = 4});
  EXPECT_EQ(cluster.compute().ready, 4 + jump_cycles + 1);
  EXPECT_EQ(cluster.slots(), jump_cycles + 1);
}

TEST(Cluster, WaitsAndEndsInstructions) {
  Cluster cluster;
  (void)cluster.compute();
  cluster.end_instruction();
  EXPECT_EQ(cluster.compute().ready, 2u);
  cluster.wait_until(10);
  EXPECT_EQ(cluster.compute().ready, 11u);
  cluster.spend(16, 22);
  EXPECT_EQ(cluster.compute().ready, 28u);
  EXPECT_EQ(cluster.slots(), 4u + 22u);
}

}  // namespace am::mmachine::costs::cluster_test
