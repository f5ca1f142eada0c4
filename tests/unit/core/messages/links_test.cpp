// Several networks as one, each played by hand.
#include "core/messages/links.hpp"

#include <gtest/gtest.h>

#include "../../transports/fake_transport.hpp"
#include "transports/multicaster.hpp"

namespace am::core::links_test {

constexpr Priority low = Priority::low;
constexpr Priority high = Priority::high;

/// Nodes 0 and 1 by the first network, 2 and 3 by the second.
class LinksTest : public testing::Test {
 protected:
  /// Who sent what comes next, releasing it; none: -1.
  int take(Priority priority) {
    const Transport::View view = links_.receive(priority);
    if (!view) return -1;
    links_.release(view);
    return static_cast<int>(view.source);
  }

  test::FakeTransport first_, second_;
  Links links_{{&first_, &second_}, {0, 0, 1, 1}};
};

TEST_F(LinksTest, UnorderedOnesToo) {
  UnorderedLanes& lanes = *links_.unordered_lanes(3);
  const Transport::Slot slot = lanes.claim_unordered(3, low, 1, 0);
  ASSERT_EQ(slot.status, Status::ok);
  links_.commit(slot, impl::Header::make(0, 1, 0, 0));
  EXPECT_EQ(second_.sent.size(), 1u);
  EXPECT_EQ((second_.unordered_claims[{3, low}]), 1u);
  second_.unordered_full = true;
  EXPECT_EQ(lanes.claim_unordered(3, low, 1, 0).status, Status::again);
  EXPECT_FALSE(lanes.has_room_unordered(3, low, 0));
  EXPECT_TRUE(links_.unordered_lanes(0)->has_room_unordered(0, low, 0));
}

/// All members get it at once, by the network's own multicast.
class Multicasting final : public test::FakeTransport, public Multicaster {
 public:
  [[nodiscard]] Multicaster* multicaster(NodeId, std::span<const NodeId>) noexcept override { return this; }
  void share_out(NodeId, std::span<const NodeId>, std::span<std::uint32_t>) const noexcept override {}
  void begin_multicast() noexcept override {}
  void end_multicast() noexcept override {}
};

TEST(LinksOfANetworkThatMulticasts, HaveItsMulticastsForThoseToWhomItLeads) {
  test::FakeTransport plain;
  Multicasting multicasting;
  Links links({&plain, &multicasting}, {0, 1, 1, 1});
  const auto shares = [&](NodeId from, std::vector<NodeId> members) {
    return links.multicaster(from, members) == &multicasting;
  };
  EXPECT_TRUE(shares(1, {1, 2, 3}));
  EXPECT_TRUE(shares(3, {1, 2}));
  EXPECT_FALSE(shares(1, {0, 2})) << "a member elsewhere";
  EXPECT_FALSE(shares(0, {1, 2})) << "a sender elsewhere";
  EXPECT_FALSE(shares(0, {0})) << "all by the network that has none";
}

TEST_F(LinksTest, ABusyNetworkDoesNotKeepTheOtherWaiting) {
  for (int i = 0; i < 10; ++i) first_.arrive(1, low, 0);
  second_.arrive(2, low, 0);
  int rounds = 0;
  for (int from = 0; from != 2; ++rounds) {
    links_.progress();
    from = take(low);
    ASSERT_NE(from, -1);
  }
  EXPECT_LE(rounds, 2);
}

TEST_F(LinksTest, APacketStaysTheSameUntilItIsReleasedAlsoAcrossRounds) {
  first_.arrive(0, low, 7);
  second_.arrive(3, low, 8);
  second_.arrive(3, high, 9);
  links_.progress();
  const Transport::View lent = links_.receive(low);
  EXPECT_EQ(links_.receive(low).packet, lent.packet);
  links_.progress();  // as a handler that waits does
  EXPECT_EQ(take(high), 3);
  links_.release(lent);  // by its source
  EXPECT_EQ(take(low), lent.source == 0 ? 3 : 0);
  EXPECT_EQ(take(low), -1);
}

TEST_F(LinksTest, DeferredIsOnlyItsNeighbour) {
  first_.arrive(0, low, 1);
  second_.arrive(2, low, 2);
  links_.progress();
  const Transport::View view = links_.receive(low);
  links_.defer(view);
  EXPECT_EQ(take(low), view.source == 0 ? 2 : 0);
  EXPECT_EQ(take(low), -1);
  links_.progress();
  EXPECT_EQ(take(low), static_cast<int>(view.source));
}

TEST_F(LinksTest, APacketFindsItsWayBackToItsLane) {
  second_.arrive(2, low, 1, 0);
  second_.arrive(2, low, 2, 1);
  links_.progress();
  links_.defer(links_.receive(low));
  const Transport::View view = links_.receive(low);
  ASSERT_EQ(view.lane, 1u);
  links_.release(view);
  EXPECT_FALSE(links_.receive(low));
  links_.progress();
  EXPECT_EQ(links_.receive(low).lane, 0u);
}

TEST_F(LinksTest, WhatWaitsBesidesTheLentOneIsAskedOfEach) {
  second_.arrive(2, low, 1);
  links_.progress();
  const Transport::View lent = links_.receive(low);
  EXPECT_FALSE(links_.waits(low, lent.packet));
  EXPECT_TRUE(links_.waits(low, nullptr));
  first_.arrive(0, low, 1);
  EXPECT_TRUE(links_.waits(low, lent.packet));
  EXPECT_FALSE(links_.waits(high, nullptr));
}

TEST_F(LinksTest, IsArmedOnlyWhereAllAre) {
  EXPECT_TRUE(links_.arm({}));
  EXPECT_EQ(first_.arms, 1u);
  EXPECT_EQ(second_.arms, 1u);
  second_.arms_refused = true;
  EXPECT_FALSE(links_.arm({}));
  EXPECT_EQ(first_.disarms, 1u) << "what was asked of the first is taken back";
  EXPECT_EQ(second_.disarms, 0u) << "it was not armed";
}

}  // namespace am::core::links_test
