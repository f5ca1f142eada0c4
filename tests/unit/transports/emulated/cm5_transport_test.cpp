// Nodes' ends of the emulated CM-5's networks in one thread: messages that are cut and put together, their order, two networks, and what its
// routers count. What holds of every machine: window_transport_test.cpp.
#include "transports/emulated/cm5_transport.hpp"

#include <gmock/gmock.h>

#include "support/random.hpp"
#include "transports/emulated/router_counts.hpp"
#include "unit/transports/emulated/ends.hpp"

namespace am::emulated::cm5_transport_test {

using namespace testing;

// A message has five words of 32 bits, of which one says where the others belong.
TEST(Cm5Messages, AreAsManyAsAPacketTakes) {
  EXPECT_EQ(cm5_messages(0, false, 0), 1u);
  EXPECT_EQ(cm5_messages(2, false, 0), 1u);
  EXPECT_EQ(cm5_messages(3, false, 0), 2u);
  EXPECT_EQ(cm5_messages(0, true, 12), 1u) << "and the length";
  EXPECT_EQ(cm5_messages(0, true, 13), 2u);
  EXPECT_EQ(cm5_messages(6, true, 1024), 68u);
  EXPECT_EQ(cm5_messages(6, true, 1024), most_cm5_messages);
}

TEST(Cm5Networks, HaveUpTo1024Nodes) {
  EXPECT_GT(cm5_bytes(1024), cm5_bytes(1));
  EXPECT_THAT(test::error_of([] { (void)cm5_bytes(1025); }),
              HasSubstr("the job has 1025 nodes, and a CM-5 has up to 1024 (run fewer nodes, "));
}

/// With the left network, in which a test moves messages as it likes.
class Cm5Ends : public Ends<Cm5Transport> {
 protected:
  /// Each swaps the networks about so often.
  void begin_to_swap(std::uint64_t every_ns) {
    ends_.clear();
    for (NodeId node = 0; node < nodes; ++node) {
      Site its = site(node);
      its.cm5_swap_ns = every_ns;
      ends_.push_back(std::make_unique<Cm5Transport>(its));
    }
  }
  Windows windows_{memory_, cm5_bytes(nodes), most_lanes, sizeof(PieceWindow)};
  PieceHost host_{windows_};
  cm5::LiveTree left_{nodes, windows_.routers(), host_};
};

// The pieces of three packets, in any order: each comes when it is whole, and all before it are.
TEST_F(Cm5Ends, PutPacketsInOrderWhateverTheirPiecesDo) {
  test::Random random(test::seed());
  for (int round = 0; round < 300; ++round) {
    constexpr std::array<std::uint32_t, 3> lengths{3, 1, 2};
    std::vector<std::uint32_t> pieces;
    PieceWindow& window = host_.pieces(1, 0);
    ASSERT_TRUE(windows_.commit_window(1, 0));
    const auto first = static_cast<std::uint32_t>(round) * 3;
    for (std::uint32_t i = 0; i < 3; ++i) {
      window.announce(Lane::low, first + i, lengths[i]);
      pieces.insert(pieces.end(), lengths[i], first + i);
    }
    for (std::size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.below(i)]);
    std::array<std::uint32_t, 3> come{};
    for (const std::uint32_t packet : pieces) {
      const cm5::Counted what{.lane = 0, .packet = packet, .link = static_cast<unsigned>(random.below(2))};
      auto& count = host_.arrivals(1, 0, what);
      count = kit::Entry{count.load()}.with(0, 0).word;
      for (std::uint64_t told = 0; told <= random.below(3); ++told) host_.arrived(1, 0, what);
      ++come[packet - first];
      std::uint32_t in_order = 0;
      while (in_order < 3 && come[in_order] == lengths[in_order]) ++in_order;
      ASSERT_EQ(kit::Entry{windows_.window(1, 0).arrived[0].load()}.count(), first + in_order);
    }
  }
}

// A piece of the first packet stands still.
TEST_F(Cm5Ends, KeepOrderedOnesUntilTheFirstIsWholeAndGiveUnorderedOnes) {
  const Transport::Slot slot = end(0).claim(1, Priority::low, 1, 0);
  ASSERT_EQ(slot.status, Status::ok);
  host_.pieces(1, 0).announce(Lane::low, 0, 1);  // that its commit will not meet
  ASSERT_EQ(send(0, slot, 0), Status::ok);
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok);
  EXPECT_THAT(take_all(1, Priority::low), IsEmpty());
  ASSERT_EQ(send_unordered(0, 1, Priority::low), Status::ok);
  EXPECT_THAT(take_all(1, Priority::low), ElementsAre(sent_));
  ASSERT_EQ(send(0, 1, Priority::high), Status::ok);
  EXPECT_THAT(take_all(1, Priority::high), ElementsAre(sent_)) << "by the other network";
  ASSERT_TRUE(left_.inject(0, {.destination = 1}));
  left_.carry(0);
  EXPECT_THAT(take_all(1, Priority::low), ElementsAre(1u, 2u));
}

// What no link takes is sent later; until then core is told `again`.
TEST_F(Cm5Ends, AreRefusedAtTheEntrance) {
  ASSERT_TRUE(left_.freeze(~std::uint64_t{0}));
  ASSERT_EQ(send(0, 1, Priority::low), Status::ok) << "it waits at the entrance";
  EXPECT_EQ(send(0, 1, Priority::low), Status::again);
  EXPECT_EQ(send(0, 1, Priority::high), Status::ok) << "the right network goes on";
  EXPECT_FALSE(end(0).drained());
  EXPECT_FALSE(end(0).arm(both)) << "nobody sleeps while it is frozen";
  EXPECT_THAT(take_all(1, Priority::low), IsEmpty());
  left_.thaw(~std::uint64_t{0});
  EXPECT_TRUE(end(0).progress());
  EXPECT_TRUE(end(0).drained());
  EXPECT_THAT(take_all(1, Priority::low), ElementsAre(1u));
  EXPECT_EQ(send(0, 1, Priority::low), Status::ok);
}

// Who has frozen the networks was killed: whoever comes by thaws them when he should have.
TEST_F(Cm5Ends, ThawWhatWasForgotten) {
  begin_to_swap(1'000'000'000'000);
  ASSERT_TRUE(left_.freeze(~std::uint64_t{0}));
  end(2).progress();
  EXPECT_NE(left_.frozen_until(), 0u);
  left_.thaw(~std::uint64_t{0});
  ASSERT_TRUE(left_.freeze(1));
  end(2).progress();
  EXPECT_EQ(left_.frozen_until(), 0u);
}

TEST_F(Cm5Ends, KeepAllWhileTheyAreSwapped) {
  begin_to_swap(20'000);
  test::Random random(test::seed());
  std::vector<std::uint64_t> expected;
  std::vector<std::uint64_t> came;
  const auto take = [&] {
    end(0).progress();
    for (const std::uint64_t number : take_all(5, Priority::low)) came.push_back(number);
  };
  for (int i = 0; i < 3'000; ++i) {
    while (send(0, 5, Priority::low, random.below(100)) != Status::ok) take();
    expected.push_back(sent_);
    end(static_cast<NodeId>(random.below(nodes))).progress();
    if (random.one_in(8))
      (void)left_.inject(1, {.destination = 5, .source = 1, .lane = 2});  // nobody carries it
    if (random.one_in(16)) take();
  }
  while (came.size() < expected.size()) take();
  EXPECT_EQ(came, expected);
  EXPECT_THAT(cm5_counts(memory_, 0), ContainsRegex("left  network.*, [1-9][0-9]* saved in swaps\n"));
}

// From 0 to 5: up to a router of the second level, and down.
TEST_F(Cm5Ends, CountsWhatPassesItsRouters) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(0, 5, Priority::low, 8), Status::ok);
    ASSERT_NE(take(5, Priority::low, 0), 0u);
  }
  const std::string text = cm5_counts(memory_, 0);
  EXPECT_THAT(text, HasSubstr("its CM-5 routers, of 12 in each network\n"));
  EXPECT_THAT(text, ContainsRegex("in the whole left  network +6 sent, 2.00 links each, 0 saved in swaps\n"));
  EXPECT_THAT(text, ContainsRegex("in the whole right network +0 sent, 0.00 links each, 0 saved in swaps\n"));
  EXPECT_EQ(cm5_counts(host::Memory::create(nodes), 0), "") << "no CM-5 there";
}

}  // namespace am::emulated::cm5_transport_test
