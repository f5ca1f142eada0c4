// Payloads that are too long for a ring, between the ends of three nodes in one thread: where they lie, when their memory comes
// back, and that no link waits for another one's.
#include <gtest/gtest.h>

#include <set>

#include "host/bell.hpp"
#include "transports/shm/shm_transport.hpp"

namespace am::shm::long_payloads_test {

constexpr std::size_t kibi = 1024;

class LongPayloads : public testing::Test {
 protected:
  /// Sends as much of a payload of `value`s as goes at once; how much that was, or nothing.
  static std::size_t send(ShmTransport& from, NodeId to, std::size_t bytes, unsigned value = 1) {
    return commit(from, from.claim(to, Priority::low, 2, bytes), value);
  }
  static std::size_t commit(ShmTransport& from, const Transport::Slot& slot, unsigned value) {
    if (slot.status != Status::ok) return 0;
    std::memset(slot.payload, static_cast<int>(value), slot.room);
    slot.packet->payload_bytes = static_cast<std::uint32_t>(slot.room);
    from.commit(slot, impl::Header::make(3, 2, 0, impl::flag::payload));
    return slot.room;
  }
  static constexpr std::size_t quarter =
      Chunks::most_units_of_a_link / 4 * Chunks::unit_bytes - Chunks::gap_bytes;  ///< of what a link may have
  /// Takes the next one: whether it is `bytes` of `value`.
  static void take(ShmTransport& at, std::size_t bytes, unsigned value = 1) {
    at.progress();
    const Transport::View view = at.receive(Priority::low);
    ASSERT_TRUE(view);
    const std::optional<Payload> payload = at.payload_of(view);
    ASSERT_TRUE(payload);
    ASSERT_EQ(payload->size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload->data()) % impl::payload_alignment, 0u);
    EXPECT_TRUE(std::ranges::all_of(payload->bytes(), [&](std::byte b) { return b == std::byte(value); }));
    at.release(view);
  }

  const std::shared_ptr<host::Memory> memory_ = host::Memory::create(3);
  ShmTransport a_{memory_, 0};
  ShmTransport b_{memory_, 1};
  ShmTransport c_{memory_, 2};
};

TEST_F(LongPayloads, WaitForTheirOwnReceiverAndForNobodyElse) {
  std::size_t to_b = 0, to_c = 0;
  while (send(a_, 1, quarter) != 0) ++to_b;
  EXPECT_EQ(to_b, 4);
  while (send(a_, 2, quarter) == quarter) ++to_c;
  EXPECT_EQ(to_c, 4);
  EXPECT_EQ(a_.claim(2, Priority::low, 0, 2 * kibi).status, Status::again);
  // a itself has none under way: two slow receivers do not keep it waiting.
  const Transport::Slot slot = a_.claim(0, Priority::low, 0, 2 * kibi);
  EXPECT_EQ(slot.status, Status::ok);
  EXPECT_EQ(slot.room, impl::packet_payload_bytes) << "in pieces then";
  EXPECT_EQ(a_.claim(1, Priority::high, 0, Chunks::largest).room, Chunks::largest)
      << "low takes nothing of high";
  take(b_, quarter);
  EXPECT_EQ(send(a_, 0, quarter), quarter);
}

/// Between an answer and the next question: then its lines are at hand, and it needs little memory.
TEST_F(LongPayloads, ThatComeOneByOneUseWhatCameBackInIdleMoments) {
  std::set<const std::byte*> places;
  for (int i = 0; i < 200; ++i) {
    const Transport::Slot slot = a_.claim(1, Priority::low, 2, 2 * kibi);
    places.insert(slot.payload);
    ASSERT_EQ(commit(a_, slot, static_cast<unsigned>(i)), 2 * kibi);
    take(b_, 2 * kibi, static_cast<unsigned>(i % 256));
    for (int moment = 0; moment < 40; ++moment) a_.use_idle_moment();
  }
  EXPECT_EQ(places.size(), 1u);
}

/// A stream uses what the receiver's cache no longer has, though its sender polls between.
TEST_F(LongPayloads, OfAStreamDoNotComeBackInIdleMoments) {
  constexpr int on_their_way = 3;
  constexpr int streamed = 20;
  std::set<const std::byte*> places;
  for (int i = 0; i < streamed; ++i) {
    const Transport::Slot slot = a_.claim(1, Priority::low, 2, 2 * kibi);
    places.insert(slot.payload);
    ASSERT_EQ(commit(a_, slot, static_cast<unsigned>(i)), 2 * kibi);
    if (i < on_their_way) continue;
    take(b_, 2 * kibi, static_cast<unsigned>(i - on_their_way));
    a_.use_idle_moment();
  }
  EXPECT_EQ(places.size(), streamed);
}

TEST_F(LongPayloads, ARefusedClaimCostsNothing) {
  const Transport::Slot lent = a_.lend(1, Priority::low, 300 * kibi);
  std::size_t lines = 0;
  while (send(a_, 1, 1) != 0) ++lines;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(a_.claim(1, Priority::low, 0, 300 * kibi).status, Status::again);
    EXPECT_EQ(a_.claim_lent(lent).status, Status::again);
  }
  EXPECT_FALSE(a_.has_room(1, Priority::low, 300 * kibi));
  take(b_, 1);
  while (--lines != 0) take(b_, 1);
  EXPECT_TRUE(a_.has_room(1, Priority::low, 300 * kibi));
  // A slot that waits to be committed, and a draft that is: each has its own memory.
  ASSERT_EQ(a_.claim(1, Priority::low, 0, 300 * kibi).status, Status::ok);
  commit(a_, a_.claim_lent(lent), 4);
  take(b_, 300 * kibi, 4);
  EXPECT_EQ(send(a_, 1, Chunks::largest), Chunks::largest);
  EXPECT_EQ(send(a_, 1, Chunks::largest), Chunks::largest) << "its half, all of it";
  ASSERT_EQ(a_.claim(2, Priority::low, 0, Chunks::largest).status, Status::ok);
  a_.close(1);
  a_.close(2);
  EXPECT_EQ(send(a_, 0, Chunks::largest), Chunks::largest);
  EXPECT_EQ(send(a_, 0, Chunks::largest), Chunks::largest);
}

TEST_F(LongPayloads, TheOutletIsToldOfTheMemoryThatItAskedFor) {
  const auto has_room = [&](std::size_t bytes) { return a_.has_room(1, Priority::low, bytes); };
  while (send(a_, 1, quarter) != 0) {
  }
  EXPECT_TRUE(has_room(0));
  EXPECT_TRUE(has_room(impl::packet_payload_bytes));
  EXPECT_FALSE(has_room(2 * kibi));
  EXPECT_FALSE(has_room(2 * Chunks::largest)) << "a piece";
  EXPECT_TRUE(a_.has_room(1, Priority::high, Chunks::largest));
  for (int i = 0; i < 2; ++i) take(b_, quarter);
  EXPECT_TRUE(has_room(Chunks::largest));
  EXPECT_TRUE(has_room(2 * Chunks::largest));
}

TEST_F(LongPayloads, OfADeadSenderStayAndThoseToADeadReceiverComeBack) {
  ASSERT_EQ(send(a_, 1, 100 * kibi, 5), 100 * kibi);
  while (send(b_, 0, Chunks::largest) != 0) {
  }
  b_.close(0);
  EXPECT_EQ(b_.claim(0, Priority::low, 0, 2 * kibi).status, Status::unreachable);
  take(b_, 100 * kibi, 5);
  for (const NodeId to : {2, 2, 1, 1})
    EXPECT_EQ(send(b_, to, Chunks::largest), Chunks::largest) << "none of its memory is lost";
}

TEST_F(LongPayloads, MayBeWrittenBeforeTheyHaveAPlace) {
  const Transport::Slot lent = a_.lend(1, Priority::low, 100 * kibi);
  ASSERT_EQ(lent.status, Status::ok);
  ASSERT_EQ(lent.packet, nullptr);
  const Transport::Slot dropped = a_.lend(1, Priority::low, 100 * kibi);
  ASSERT_EQ(dropped.status, Status::ok);
  a_.give_back(dropped);
  std::memset(lent.payload, 9, 100 * kibi);
  ASSERT_EQ(send(a_, 1, 8, 1), 8u);
  ASSERT_EQ(send(a_, 1, 64 * kibi, 2), 64 * kibi);
  const Transport::Slot slot = a_.claim_lent(lent);
  ASSERT_EQ(slot.status, Status::ok);
  EXPECT_EQ(slot.payload, lent.payload);
  commit(a_, slot, 9);
  take(b_, 8, 1);
  take(b_, 64 * kibi, 2);
  take(b_, 100 * kibi, 9);
  EXPECT_EQ(a_.lend(1, Priority::low, Chunks::largest + 1).status, Status::too_big);
  a_.close(1);
  EXPECT_EQ(a_.lend(1, Priority::low, 2 * kibi).status, Status::unreachable);
}

TEST_F(LongPayloads, LentOnesAloneKeepNobodyWaiting) {
  std::vector<Transport::Slot> lent;
  while (lent.empty() || lent.back().status == Status::ok) lent.push_back(a_.lend(1, Priority::low, quarter));
  EXPECT_EQ(lent.back().status, Status::too_big) << "nothing that is under way will come back";
  EXPECT_EQ(send(a_, 1, 3 * kibi), impl::packet_payload_bytes) << "in pieces";
  lent.pop_back();
  a_.close(1);
  for (const Transport::Slot& slot : lent) {
    EXPECT_EQ(a_.claim_lent(slot).status, Status::unreachable);
    a_.give_back(slot);
  }
  EXPECT_EQ(send(a_, 2, Chunks::largest), Chunks::largest);
}

// A sleeper that waits for memory is woken by the release that gives it back, and by nothing less: else it would spin, or wait
// for ever.
TEST_F(LongPayloads, ASleeperIsWokenWhenItsMemoryComesBack) {
  constexpr Transport::Wanted nothing{.high = false, .low = false};
  host::Bell bell(memory_->board(), 0);
  while (send(a_, 1, 300 * kibi) != 0) {
  }
  bell.set(host::Alarm::sleeper);
  ASSERT_TRUE(a_.arm(nothing)) << "there is none: it may sleep";
  take(b_, 300 * kibi);
  bell.sleep(UINT64_MAX / 2);  // returns
  bell.clear();
  a_.disarm();
  ASSERT_NE(send(a_, 1, 300 * kibi), 0u);
  ASSERT_EQ(send(a_, 1, 300 * kibi), 0u);
  take(b_, 300 * kibi);
  bell.set(host::Alarm::sleeper);
  EXPECT_FALSE(a_.arm(nothing)) << "it has come back already";
  bell.clear();
}

}  // namespace am::shm::long_payloads_test
