// Nodes' ends of the emulated nCUBE/2 network in one thread: how many nodes it has, broadcasts of its own, what its routers count. What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/ncube2_transport.hpp"

#include <gmock/gmock.h>

#include "support/random.hpp"
#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::ncube2_transport_test {

using namespace testing;

std::string cube_text(NodeId nodes) {
  return text_or_error([&] { return std::to_string(dimensions_of("an nCUBE/2", nodes)); });
}

TEST(Ncube2Cube, HasAPowerOfTwoNodesOrALineThatSaysWhyNot) {
  EXPECT_EQ(cube_text(1), "0");
  EXPECT_EQ(cube_text(2), "1");
  EXPECT_EQ(cube_text(1024), "10");
  EXPECT_THAT(cube_text(3),
              HasSubstr("the job has 3 nodes, and an nCUBE/2 is a cube of 1, 2, 4, ... up to 1024 "
                        "(run 2 or 4 nodes, or another network (AM_TRANSPORT))"));
  EXPECT_THAT(cube_text(1023), HasSubstr("(run 512 or 1024 nodes, "));
  EXPECT_THAT(cube_text(2048), HasSubstr("(run 1024 nodes, "));
}

using Ncube2Ends = Ends<Ncube2Transport>;

/// A word to each of these, as core sends it.
struct Sent {
  std::vector<NodeId> to;
  std::string links;  ///< how the report of the routers ends
};

TEST_F(Ncube2Ends, MulticastToSubcubes) {
  const Sent all[] = {{{0, 1, 2, 3, 4, 5, 6, 7}, "2 sent, 3.50 links each\n"},  // all, and itself
                      {{1, 3, 5, 7}, "1 sent, 4.00 links each\n"},              // by node 1
                      {{4}, "1 sent, 1.00 links each\n"},
                      {{1, 2, 4, 7}, "4 sent, 1.50 links each\n"},
                      {{3, 6, 7}, "2 sent, 2.50 links each\n"}};
  for (const Priority priority : priorities) {
    for (const Sent& sent : all) {
      begin_anew();
      expect_multicast(sent.to, priority);
      EXPECT_THAT(ncube2_counts(memory_, 0), HasSubstr(sent.links));
    }
  }
}

TEST(Subcubes, HoldEachNodeOnceAndNoOther) {
  test::Random random(test::seed());
  for (int round = 0; round < 3'000; ++round) {
    const auto dimensions = static_cast<unsigned>(random.below(round % 100 == 0 ? 11 : 6));
    const NodeId nodes = NodeId{1} << dimensions;
    const auto from = static_cast<NodeId>(random.below(nodes));
    const auto rest =
        static_cast<NodeId>(random.below(nodes));  // what is dense in one half is not in another
    NodeBits to;
    for (NodeId node = 0; node < nodes; ++node)
      to[node] = node != from && random.below(8) < ((node & rest) == 0 ? 7u : 2u);
    NodeBits reached;
    auto subcube = [&](NodeId node, NodeId mask) {
      for (NodeId other = 0; other < nodes; ++other) {
        if ((other | mask) != (node | mask) || other == from) continue;
        EXPECT_FALSE(reached[other]) << other;
        reached.set(other);
      }
    };
    for_each_subcube(to, from, {dimensions}, subcube);
    ASSERT_EQ(reached, to);
  }
}

TEST(Subcubes, AreAsLargeAsTheyCanBe) {
  for (const unsigned dimensions : {1u, 3u, 10u}) {
    const NodeId nodes = NodeId{1} << dimensions;
    for (NodeId mask = 1; mask < nodes; mask = mask * 3 + 1) {
      for (const bool with_sender : {false, true}) {
        const NodeId node = ~mask & (nodes - 1) & 0x155;
        const NodeId from = with_sender ? node | (mask & 0x2aa) : node ^ (nodes - 1);
        NodeBits to;
        for (NodeId other = 0; other < nodes; ++other) to[other] = (other | mask) == (node | mask);
        if (to[from] != with_sender) continue;  // it is everybody
        to.reset(from);
        std::vector<NodeId> masks;
        auto subcube = [&](NodeId, NodeId its) { masks.push_back(its); };
        for_each_subcube(to, from, {dimensions}, subcube);
        EXPECT_THAT(masks, ElementsAre(mask)) << from;
      }
    }
  }
}

// Each is one message, of up to 1 MiB; where there is no room for it, and none of the link's is under way, it goes in pieces of its window.
TEST_F(Ncube2Ends, SendPayloadsOfAnySizeInOnePiece) {
  for (const std::size_t bytes : {std::size_t{1025}, std::size_t{5'000}, std::size_t{1} << 20}) {
    for (const Priority priority : priorities) {
      ASSERT_EQ(send(0, 3, priority, bytes), Status::ok);
      ASSERT_NE(take(3, priority, 0), 0u);
    }
  }
  EXPECT_THAT(ncube2_counts(memory_, 3), ContainsRegex("to this node +6\n"));
  EXPECT_EQ(end(0).claim(3, Priority::low, 1, (1 << 20) + 1).room, 128u << 10);

  const auto claim = [this](NodeId to) { return end(0).claim(to, Priority::low, 1, 1 << 20); };
  for (int i = 0; i < 2; ++i) ASSERT_EQ(send(0, 3, Priority::low, 1 << 20), Status::ok);
  EXPECT_EQ(claim(3).status, Status::again) << "half of all is the link's";
  EXPECT_FALSE(end(0).has_room(3, Priority::low, 1 << 20));
  EXPECT_TRUE(end(0).has_room(3, Priority::high, 1 << 20));
  for (int i = 0; i < 2; ++i) ASSERT_EQ(send(0, 5, Priority::low, 1 << 20), Status::ok);
  EXPECT_EQ(claim(6).room, impl::packet_payload_bytes) << "no link waits for another";
  ASSERT_TRUE(end(0).arm(both));
  end(0).disarm();
  EXPECT_EQ(claim(3).status, Status::again);
  ASSERT_NE(take(3, Priority::low, 0), 0u);
  EXPECT_FALSE(end(0).arm(both)) << "there is room again";
  EXPECT_EQ(claim(3).room, 1u << 20);
  EXPECT_EQ(claim(3).status, Status::ok) << "the one that was not committed is forgotten";
  end(0).close(5);
  EXPECT_EQ(claim(6).room, 1u << 20) << "what was under way there has come back";
}

// Two of different engines waited for room in the network: both go on by themselves when it has come.
TEST_F(Ncube2Ends, CarryWhatWaitedForRoom) {
  const Windows windows(memory_, ncube2::LiveCube::bytes(nodes), ordered_lanes);
  CountingHost<ncube2::LiveCube, ncube2::Counted> host(windows);
  ncube2::LiveCube cube(3, windows.routers(), host);
  auto& channel = const_cast<kit::HeldChannel&>(cube.router(1).inputs[0]);
  const std::uint32_t nobodys = ncube2::LiveMessage{.destination = nodes}.bits();
  while (channel.put(nobodys, kit::HeldChannel::slots)) {
  }
  for (unsigned i = 0; i < kit::HeldChannel::slots; ++i) ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  const Transport::Slot to_1 = end(0).claim(1, Priority::low, 1, 0);
  const Transport::Slot to_2 = end(0).claim(2, Priority::low, 1, 0);
  ASSERT_EQ(send(0, to_1, 0), Status::ok);
  ASSERT_EQ(send(0, to_2, 0), Status::ok);
  EXPECT_EQ(end(0).claim(4, Priority::low, 1, 0).status, Status::again);
  for (NodeId i = 0; i < nodes; ++i) cube.look_after();
  EXPECT_THAT(take_all(1, Priority::low), SizeIs(kit::HeldChannel::slots));
  EXPECT_TRUE(end(0).progress());
  EXPECT_THAT(take_all(1, Priority::low), SizeIs(1));
  EXPECT_THAT(take_all(2, Priority::low), SizeIs(1));
}

// From 0 to 6 by 2.
TEST_F(Ncube2Ends, CountsWhatPassesItsRouters) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(0, 6, Priority::low, 1000), Status::ok);
    ASSERT_NE(take(6, Priority::low, 0), 0u);
  }
  ASSERT_EQ(end(0).begin_access(MemoryReach::Access::fetch, 6, 1024), Status::ok);
  EXPECT_THAT(ncube2_counts(memory_, 0), ContainsRegex("this node +engine 1 +4 +0\n"));
  EXPECT_THAT(ncube2_counts(memory_, 0), ContainsRegex("node 4 +answers 2 +1 +0\n"));
  const std::string middle = ncube2_counts(memory_, 2);
  EXPECT_THAT(middle, HasSubstr("its nCUBE/2 router, in a cube of 3 dimensions\n"));
  EXPECT_THAT(middle, ContainsRegex("node 0 +link 1 +4 +0\n"));
  EXPECT_THAT(middle, ContainsRegex("in the whole network +4 sent, 2.50 links each\n"));
  EXPECT_THAT(ncube2_counts(memory_, 6), ContainsRegex("to this node +3\n"));
  EXPECT_EQ(ncube2_counts(host::Memory::create(nodes), 0), "") << "no nCUBE/2 there";
}

}  // namespace am::emulated::ncube2_transport_test
