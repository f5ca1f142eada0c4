// How instructions issue, by examples worked out by hand from 3.1 and the text to Figure 3-2.
#include "emulated_hw/mmachine/instruction_stream.hpp"

#include <gtest/gtest.h>

namespace am::mmachine::instruction_stream_test {

TEST(InstructionStream, AResultIsThereInTheFollowingCycle) {
  InstructionStream thread;
  const Register a = thread.issue(op::compute());
  EXPECT_EQ(a.ready, 1u);
  EXPECT_EQ(thread.issue(op::compute(a)).ready, 2u);
  EXPECT_EQ(thread.slots(), 2u);
}

TEST(InstructionStream, OperationsIssueTogetherWhereEachHasAUnit) {
  InstructionStream three;
  EXPECT_EQ(three.issue(op::move({})).ready, 1u);
  EXPECT_EQ(three.issue(op::load()).ready, load_cycles);
  EXPECT_EQ(three.issue({.unit = Unit::falu}).ready, 1u);
  EXPECT_EQ(three.issue(op::compute()).ready, 2u) << "the fourth";
  InstructionStream integers;
  for (const Cycle ready : {1u, 1u, 2u}) EXPECT_EQ(integers.issue(op::compute()).ready, ready);
  InstructionStream moves;
  for (const Cycle ready : {1u, 2u}) EXPECT_EQ(moves.issue(op::move({})).ready, ready) << "one a cycle";
  InstructionStream memory;
  memory.issue(op::lea());
  EXPECT_EQ(memory.issue(op::load()).ready, 1 + load_cycles) << "pointers and memory share a unit";
}

TEST(InstructionStream, IssuesInOrder) {
  InstructionStream thread;
  const Register loaded = thread.issue(op::load());
  EXPECT_EQ(thread.issue(op::compute(loaded)).ready, load_cycles + 1);
  EXPECT_EQ(thread.issue(op::lea()).ready, load_cycles + 1) << "beside the one that waited, not before it";
  EXPECT_EQ(thread.issue(op::lea()).ready, load_cycles + 2);
}

TEST(InstructionStream, AJumpDelaysWhatFollows) {
  InstructionStream thread;
  thread.jump({.ready = 4});
  EXPECT_EQ(thread.issue(op::compute()).ready, 4 + jump_cycles + 1);
  EXPECT_EQ(thread.slots(), jump_cycles + 1);
}

TEST(InstructionStream, WaitsAndEndsInstructions) {
  InstructionStream thread;
  thread.issue(op::compute());
  thread.end_instruction();
  EXPECT_EQ(thread.issue(op::compute()).ready, 2u);
  thread.wait_until(10);
  EXPECT_EQ(thread.issue(op::compute()).ready, 11u);
  thread.spend(16, 22);
  EXPECT_EQ(thread.issue(op::compute()).ready, 28u);
  EXPECT_EQ(thread.slots(), 4u + 22u);
}

}  // namespace am::mmachine::instruction_stream_test
