// A multicast on its way down the tree, packet by packet: who gets which part of the list, what a full link and a dead member
// change, which lists no node of this library writes.
#include "core/messages/forwarding.hpp"

#include <gmock/gmock.h>

#include "support/random.hpp"
#include "unit/core/messages/played_node.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core::forwarding_test {

using namespace testing;

constexpr NodeId nodes = 40;
constexpr NodeId self = 1;
using List = std::vector<NodeId>;
using Sent = std::pair<NodeId, List>;

class ForwardingTest : public testing::Test, protected test_messages::SendingNode<test::FakeTransport> {
 protected:
  ForwardingTest() : SendingNode(self, host::Memory::create(nodes)) {}

  /// A packet whose payload is one byte and, behind it, `words`.
  Forwarding::Outcome arrive(const List& words) {
    bytes_.assign(1, std::byte{9});
    bytes_.resize(1 + words.size() * sizeof(NodeId));
    if (!words.empty()) std::memcpy(bytes_.data() + 1, words.data(), words.size() * sizeof(NodeId));
    packet_.header = impl::Header::make(7, 1, 0, impl::flag::multicast | impl::flag::payload).bits;
    arrival_ = {.packet = &packet_,
                .head = packet_.head(),
                .from = 0,
                .payload = Payload(bytes_),
                .priority = Priority::low};
    return forwarding_.pass_on({&packet_, packet_.head(), 0, Priority::low}, *arrival_);
  }
  /// The same for members, as they are sent.
  Forwarding::Outcome pass_on(List members) {
    members.push_back(static_cast<NodeId>(members.size()));
    return arrive(members);
  }
  /// To whom, with which list; and forgets it.
  std::vector<Sent> sent() {
    std::vector<Sent> all;
    for (const auto& [to, priority, image] : std::exchange(network_.sent, {})) {
      Payload payload = test_messages::payload_of(image->packet);
      const List list = test_messages::take_list(payload);
      EXPECT_EQ(payload.size(), 1u);
      all.emplace_back(to, list);
    }
    return all;
  }

  MulticastSender multicasts_{self, network_, MulticastSender::parts_by_network, sender_,
                              std::pmr::get_default_resource()};
  Forwarding forwarding_{self, nodes, multicasts_, std::pmr::get_default_resource()};
  std::vector<std::byte> bytes_;
  impl::Packet packet_{};
  std::optional<impl::Arrival> arrival_;
};

TEST_F(ForwardingTest, HalvesTheList) {
  const Forwarding::Outcome outcome = pass_on({2, 3, 5, 7, 11});
  EXPECT_FALSE(outcome.deferred);
  EXPECT_EQ(outcome.malformed, nullptr);
  EXPECT_EQ(arrival_->payload.size(), 1u) << "the handler sees no list";
  EXPECT_THAT(sent(), ElementsAre(Sent{2, {3, 5}}, Sent{7, {11}}));
  EXPECT_TRUE(forwarding_.idle());
}

TEST_F(ForwardingTest, WhereSendsAreCheapTheTreeIsWide) {
  MulticastSender wide(self, network_, 4, sender_, std::pmr::get_default_resource());
  MulticastSender::List members{0, 1, 2, 3, 5, 7, 11, 13, 17};
  const std::byte byte{};
  EXPECT_EQ(wide.try_send({.payload = Payload(&byte, 1)}, members), Status::ok);
  EXPECT_THAT(sent(), ElementsAre(Sent{0, {1, 2}}, Sent{3, {5}}, Sent{7, {11}}, Sent{13, {17}}));
}

TEST_F(ForwardingTest, WaitsUntilEachSubtreeHasRoom) {
  network_.room[{7, Priority::low}] = 0;
  EXPECT_TRUE(pass_on({2, 3, 5, 7, 11}).deferred);
  EXPECT_FALSE(forwarding_.idle());
  EXPECT_THAT(sent(), IsEmpty());
  network_.room[{7, Priority::low}] = 1;
  EXPECT_FALSE(pass_on({2, 3, 5, 7, 11}).deferred);
  EXPECT_THAT(sent(), ElementsAre(Sent{2, {3, 5}}, Sent{7, {11}}));
  EXPECT_TRUE(forwarding_.idle());
}

TEST_F(ForwardingTest, ForgetsWhoseMessagesAreDropped) {
  network_.room[{2, Priority::low}] = 0;
  EXPECT_TRUE(pass_on({2, 3}).deferred);
  forwarding_.forget(0);
  EXPECT_TRUE(forwarding_.idle());
}

TEST_F(ForwardingTest, RefusesWhatNobodyWrites) {
  EXPECT_NE(arrive({}).malformed, nullptr) << "no number";
  EXPECT_NE(arrive({3, 2}).malformed, nullptr) << "fewer members than it says";
  EXPECT_NE(arrive({3, ~NodeId{0}}).malformed, nullptr) << "a number that overflows";
  EXPECT_NE(pass_on({self, 3}).malformed, nullptr)
      << "itself, whom this network reaches by no multicast of its own";
  EXPECT_NE(pass_on({0, 3}).malformed, nullptr) << "it goes back";
  EXPECT_NE(pass_on({3, 3}).malformed, nullptr);
  EXPECT_NE(pass_on({5, 3}).malformed, nullptr);
  EXPECT_NE(pass_on({3, nodes}).malformed, nullptr) << "there is no such node";
  EXPECT_THAT(sent(), IsEmpty());
}

/// Every member is in exactly one part, whatever is full or dead on the way.
TEST_F(ForwardingTest, NobodyIsForgottenOrTwice) {
  const std::uint64_t seed = test::seed();
  test::Random random(seed);
  for (int round = 0; round < 2000; ++round) {
    List members;
    for (NodeId node = self + 1; node < nodes; ++node) {
      if (random.below(3) == 0) members.push_back(node);
    }
    List reached;
    bool deferred = true;
    while (deferred) {
      network_.room.clear();
      for (const NodeId member : members) {
        if (random.below(3) == 0) network_.room[{member, Priority::low}] = 0;
      }
      deferred = pass_on(members).deferred;
      for (const auto& [to, list] : sent()) {
        reached.push_back(to);
        reached.insert(reached.end(), list.begin(), list.end());
      }
    }
    ASSERT_EQ(reached, members) << "seed " << seed << ", round " << round;
  }
}

}  // namespace am::core::forwarding_test
