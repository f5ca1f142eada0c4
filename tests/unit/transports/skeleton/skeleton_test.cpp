// The skeleton, by hand through the seam: what any transport's first test looks like.
#include "transports/skeleton/skeleton.hpp"

#include <gtest/gtest.h>

namespace am::skeleton::skeleton_test {

constexpr NodeId self = 3;
constexpr Priority both[] = {Priority::low, Priority::high};

class Skeleton : public testing::Test {
 protected:
  /// Sends to itself, or says why not.
  Status send(Priority priority, std::uint64_t word, std::string_view payload = {}) {
    const Transport::Slot slot = network.claim(self, priority, 1, payload.size());
    if (slot.status != Status::ok) return slot.status;
    slot.packet->words[0] = word;
    slot.packet->origin = self;
    slot.packet->payload_bytes = static_cast<std::uint32_t>(payload.size());
    EXPECT_EQ(slot.room, payload.size());
    if (!payload.empty()) std::memcpy(slot.payload, payload.data(), payload.size());
    network.commit(slot, impl::Header::make(9, 1, 0, payload.empty() ? 0 : impl::flag::payload));
    return Status::ok;
  }

  SkeletonTransport network{self};
};

TEST_F(Skeleton, ANodeReachesItselfAtBothPriorities) {
  for (const Priority priority : both) {
    const std::string payload(priority == Priority::low ? 32 : 33,
                              'p');  // beside the word, and behind the line
    ASSERT_EQ(send(priority, 42, payload), Status::ok);
    EXPECT_EQ(network.queued(self, priority), 1u);
    network.progress();
    const Transport::View view = network.receive(priority);
    ASSERT_TRUE(view);
    EXPECT_EQ(view.source, self);
    EXPECT_EQ(view.priority, priority);
    EXPECT_EQ(view.packet->head().handler(), 9);
    EXPECT_EQ(view.head.lines(), priority == Priority::low ? 1u : 2u);
    EXPECT_EQ(view.packet->words[0], 42u);
    const std::optional<Payload> came = network.payload_of(view);
    ASSERT_TRUE(came);
    EXPECT_EQ(came->size(), payload.size());
    EXPECT_EQ(std::memcmp(came->data(), payload.data(), payload.size()), 0);
    network.release(view);
    EXPECT_FALSE(network.receive(priority));
    EXPECT_EQ(network.queued(self, priority), 0u);
  }
}

TEST_F(Skeleton, KeepsTheOrderAndMemoryIsBounded) {
  std::uint64_t sent = 0, received = 0;
  for (int lap = 0; lap < 5; ++lap) {
    while (send(Priority::low, sent) == Status::ok) ++sent;
    EXPECT_LT(sent - received, 100u);
    for (int i = 0; i < 3; ++i) {
      const Transport::View view = network.receive(Priority::low);
      ASSERT_TRUE(view);
      EXPECT_EQ(view.packet->words[0], received++);
      network.release(view);
    }
  }
}

TEST_F(Skeleton, HighGetsThroughWhenLowIsFull) {
  while (send(Priority::low, 0) == Status::ok) {
  }
  EXPECT_EQ(send(Priority::low, 0), Status::again);
  EXPECT_EQ(send(Priority::high, 7), Status::ok);
  ASSERT_TRUE(network.receive(Priority::high));
  EXPECT_EQ(network.receive(Priority::high).packet->words[0], 7u);
}

TEST_F(Skeleton, ADeferredPacketComesBackInTheNextRound) {
  ASSERT_EQ(send(Priority::low, 1), Status::ok);
  const Transport::View view = network.receive(Priority::low);
  network.defer(view);
  EXPECT_FALSE(network.receive(Priority::low));
  network.progress();
  EXPECT_EQ(network.receive(Priority::low).packet, view.packet);
}

TEST_F(Skeleton, AClaimWithoutCommitCostsNothing) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(network.claim(self, Priority::low, 0, 0).status, Status::ok);
  EXPECT_FALSE(network.receive(Priority::low));
  EXPECT_EQ(network.claim(self, Priority::low, 0, 5000).room, impl::packet_payload_bytes) << "in pieces";
}

TEST_F(Skeleton, NobodyElseIsThereAndNobodyAtAllAfterClose) {
  EXPECT_EQ(network.claim(0, Priority::low, 0, 0).status, Status::unreachable);
  ASSERT_EQ(send(Priority::high, 5), Status::ok);
  network.close(self);
  EXPECT_EQ(send(Priority::high, 6), Status::unreachable);
  EXPECT_TRUE(network.receive(Priority::high)) << "what was sent before may still be received";
}

TEST_F(Skeleton, IsNotArmedWhileAPacketIsThere) {
  ASSERT_EQ(send(Priority::low, 1), Status::ok);
  EXPECT_FALSE(network.arm({}));
  EXPECT_TRUE(network.arm({.high = true, .low = false})) << "nobody wants it";
  network.release(network.receive(Priority::low));
  EXPECT_TRUE(network.arm({}));
}

}  // namespace am::skeleton::skeleton_test
