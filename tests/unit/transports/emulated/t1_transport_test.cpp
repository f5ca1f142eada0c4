// Nodes' ends of the emulated T1 network in one thread: which grid it is, what a packet is cut into, multicasts and accesses of its own,
// what its routers count. What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/t1_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/error.hpp>

#include <string>
#include <vector>

#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated {
namespace t1_transport_test {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string shape_text(std::string_view options, NodeId nodes) {
  try {
    const t1::Shape shape = shape_of(options, nodes);
    return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(T1Shape, IsTheSquarestWhereNoneIsGiven) {
  EXPECT_EQ(shape_text("", 1), "1x1");
  EXPECT_EQ(shape_text("", 2), "1x2");
  EXPECT_EQ(shape_text("", 12), "3x4");
  EXPECT_EQ(shape_text("", 13), "1x13");
  EXPECT_EQ(shape_text("", 16), "4x4");
  EXPECT_EQ(shape_text("", 1024), "32x32");
}

TEST(T1Shape, IsWhatWasAskedForOrALineThatSaysWhy) {
  EXPECT_EQ(shape_text("4x3", 12), "4x3");
  EXPECT_EQ(shape_text("12x1", 12), "12x1");
  EXPECT_THAT(shape_text("4x4", 12),
              HasSubstr("AM_TRANSPORT=t1:4x4 is a grid of 16 nodes, and the job has 12"));
  EXPECT_THAT(shape_text("4x4", 12), HasSubstr("say t1:3x4, or t1 alone"));
  for (const char* const bad :
       {"4", "x", "4x", "x4", "0x4", "4x0", "-4x3", "4x3x1", "4 x3", "4X3", "99999999999x1", "4x3,"})
    EXPECT_THAT(shape_text(bad, 12), HasSubstr("AM_TRANSPORT=t1:" + std::string(bad) + " is no grid")) << bad;
  EXPECT_THAT(shape_text("4294967295x4294967295", 12), HasSubstr("is a grid of 18446744065119617025 nodes"));
  EXPECT_THAT(shape_text("", 1025), HasSubstr("the job has 1025 nodes, and a CNS-1 has up to 1024"));
}

TEST(T1Messages, AreAsManyAsAPacketNeeds) {
  EXPECT_EQ(words_of(0, false, 0), 0u);
  EXPECT_EQ(words_of(6, false, 0), 12u) << "of 32 bits";
  EXPECT_EQ(words_of(1, true, 5), 2u + 1 + 2);
  EXPECT_EQ(words_per_message, 37u);
  EXPECT_EQ(most_messages, 8u) << "12 + 1 + 256 words";
}

using T1Ends = Ends<T1Transport>;

TEST_F(T1Ends, TakeNoMoreThanAWindowHoldsAndGoOnWhenSomethingWasReleased) {
  for (NodeId from = 0; from < nodes; ++from) {
    for (const Priority priority : {Priority::low, Priority::high}) {
      std::vector<std::uint64_t> numbers;
      while (send(from, 3, priority) == Status::ok) numbers.push_back(sent_);
      EXPECT_GE(numbers.size(), high_lines - 2);
      EXPECT_EQ(send(from, 4, priority), Status::ok) << "no link waits for another";
      EXPECT_EQ(take(4, priority, from), sent_);
      EXPECT_FALSE(end(from).has_room(3, priority, 0));
      for (const std::uint64_t number : numbers) ASSERT_EQ(take(3, priority, from), number);
      EXPECT_EQ(take(3, priority, from), 0u);
      EXPECT_TRUE(end(from).has_room(3, priority, 0));
      EXPECT_TRUE(end(from).drained());
    }
  }
}

class T1Ring : public T1Ends {
 protected:
  T1Ring() : T1Ends("1x6") {}
};

// Two multicasts go around it, one each way (T1 report, 3.9): five links in all, where messages to each would take nine.
TEST_F(T1Ring, IsCoveredByTwoMulticasts) {
  for (const Priority priority : {Priority::low, Priority::high}) {
    end(0).begin_multicast();
    for (NodeId to = 0; to < nodes; ++to) {
      const Transport::Slot slot = end(0).claim(to, priority, 1, 0);
      ASSERT_EQ(slot.status, Status::ok);
      slot.packet->words[0] = 7;
      commit(0, slot, 0);
      EXPECT_EQ(take(to, priority, 0), 0u) << "not before the end";
    }
    end(0).end_multicast();
    for (NodeId to = 0; to < nodes; ++to) EXPECT_EQ(take(to, priority, 0), 7u);
    for (NodeId to = 0; to < nodes; ++to) EXPECT_EQ(take(to, priority, 0), 0u);
  }
  EXPECT_THAT(t1_counts(memory_, 0), ContainsRegex("in the whole network +6 sent, 1.67 links each\n"))
      << "at each priority one to itself, over no link, and two over two and three";
}

// Handlers in hardware (T1 report, 3.9): no other end takes part. A store of 1 KiB is 8 messages of 32 words, 3 scalars and the header, a
// fetch of it 8 of 5 scalars, and as many answers as long as stores.
TEST_F(T1Ends, CarryAccessesToWhoDoesNothing) {
  using Access = Transport::Access;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    ASSERT_EQ(end(0).begin_access(Access::store, 4, i * 20), Status::ok);
    ASSERT_EQ(end(0).begin_access(Access::fetch, 4, i * 20), Status::ok);
    EXPECT_EQ(end(0).accesses_done(Access::store, 4), i) << "whoever begins one carries it";
    EXPECT_EQ(end(0).accesses_done(Access::fetch, 4), i);
  }
  EXPECT_EQ(end(0).accesses_done(Access::store, 1), 0u);
  EXPECT_EQ(end(4).accesses_done(Access::store, 0), 0u);
  EXPECT_FALSE(end(4).progress()) << "nothing for a processor";
  end(0).close(4);
  EXPECT_EQ(end(0).begin_access(Access::store, 4, 8), Status::unreachable);
  EXPECT_EQ(end(0).begin_access(Access::store, 5, 8), Status::ok);
  EXPECT_EQ(end(0).begin_access(Access::fetch, 3, 8), Status::ok);
}

TEST_F(T1Ends, AreNotArmedWhileTheyHaveNotToldOfAnAccess) {
  ASSERT_TRUE(end(0).arm(both));
  end(0).disarm();
  for (const auto access : {Transport::Access::store, Transport::Access::fetch}) {
    ASSERT_EQ(end(0).begin_access(access, 1, 8), Status::ok);
    EXPECT_FALSE(end(0).arm(both));
    EXPECT_EQ(end(0).accesses_done(access, 1), 1u);
    ASSERT_TRUE(end(0).arm(both));
    end(0).disarm();
  }
}

TEST_F(T1Ends, CountTheFlitsOfAccesses) {
  ASSERT_EQ(end(0).begin_access(Transport::Access::store, 1, 1024), Status::ok);
  ASSERT_EQ(end(0).begin_access(Transport::Access::fetch, 1, 1024), Status::ok);
  const std::string there = t1_counts(memory_, 1);
  EXPECT_THAT(there, ContainsRegex("node 0 +low +[01] +96 +0\n")) << "8 of 10, and 8 of 2";
  EXPECT_THAT(there, ContainsRegex("this node +high +1 +80 +0\n")) << "answers";
  EXPECT_THAT(there, ContainsRegex("to this node +80\n"));
  EXPECT_THAT(t1_counts(memory_, 0), ContainsRegex("to this node +80\n"));
}

// Nodes 0 to 5 are 2 x 3. A message of one word is one flit of 128 bits, with its header; one of 1 KiB more 7 messages of 10 flits.
TEST_F(T1Ends, CountsWhatPassesItsRouters) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(0, 4, Priority::low), Status::ok);  // by 1
    ASSERT_NE(take(4, Priority::low, 0), 0u);
  }
  ASSERT_EQ(send(4, 1, Priority::high, 1024), Status::ok);
  ASSERT_NE(take(1, Priority::high, 4), 0u);
  const std::string middle = t1_counts(memory_, 1);
  EXPECT_THAT(middle, HasSubstr("its T1 router, at row 0, column 1 of 2x3\n"));
  EXPECT_THAT(middle, ContainsRegex("node 0 +low +1 +3 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("node 4 +high +0 +70 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("to this node +70\n"));
  EXPECT_THAT(middle, ContainsRegex("in the whole network +73 sent, 1.04 links each\n"));
  EXPECT_THAT(t1_counts(memory_, 4), ContainsRegex("node 1 +low +0 +3 +0\n"));
  EXPECT_THAT(t1_counts(memory_, 4), ContainsRegex("this node +high +0 +70 +0\n"));
  EXPECT_EQ(t1_counts(host::Memory::create(nodes), 0), "") << "no T1 there";
}

}  // namespace t1_transport_test
}  // namespace am::emulated
