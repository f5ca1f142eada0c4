// The listing in 3.2.3, instruction by instruction: "the entire fetch and add operation takes as few as 16 cycles to traverse the
// injection and extraction interfaces". What lies between the two, path_cycles, is not counted there.
#include <gtest/gtest.h>

#include <array>

#include "emulated_hw/mmachine/costs/register_injections.hpp"

namespace am::mmachine::costs {
namespace fetch_and_add_test {

TEST(FetchAndAdd, TakesSixteenCyclesOverBothInterfaces) {
  Cluster sender;
  std::array<Register, 2> message;  // i5 and i4
  sender.issue(std::array{Operation{.unit = Unit::ialu}, Operation{.unit = Unit::memu}}, message);
  SendUnit unit;
  const SendUnit::Sent sent = unit.send(sender, Unit::ialu, message[1], message.size());
  EXPECT_EQ(sender.last_issue(), 1u);

  const Register head{sent.arrival.head - path_cycles};
  const Register address{sent.arrival.words[0] - path_cycles};
  const Register value{sent.arrival.words[1] - path_cycles};
  Cluster handler;
  handler.jump(head);  // instr IALU jmp MsgHead
  std::array<Register, 2> old;
  handler.issue(std::array{Operation{.unit = Unit::memu, .reads = {address}, .latency = load_cycles},
                           Operation{.unit = Unit::ialu, .reads = {address}}},
                old);
  const Register sum = handler.issue({.unit = Unit::ialu, .reads = {value, old[0]}});
  std::array<Register, 2> done;
  handler.issue(std::array{Operation{.unit = Unit::memu, .reads = {sum, old[1]}, .latency = store_cycles},
                           Operation{.unit = Unit::ialu}},
                done);
  EXPECT_EQ(done[0].ready, 16u);
}

/// "the program must sync on cc0 before reusing" the registers: until the last word has been read out of them.
TEST(FetchAndAdd, IsAcknowledgedWhenItsWordsAreOut) {
  Cluster sender;
  SendUnit unit;
  EXPECT_EQ(unit.send(sender, Unit::ialu, {}, 2).acknowledged.ready, send_cycles + 2);
}

TEST(FetchAndAdd, AnotherSendWaitsForTheUnit) {
  Cluster sender;
  SendUnit unit;
  const SendUnit::Sent first = unit.send(sender, Unit::ialu, {}, 10);
  const SendUnit::Sent second = unit.send(sender, Unit::falu, {}, 10);
  EXPECT_EQ(second.arrival.head, first.arrival.head + send_cycles + 10);
}

}  // namespace fetch_and_add_test
}  // namespace am::mmachine::costs
