// Nodes that talk over libfabric, whatever the provider.

#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi::ofi_transport_test {

class OfiNodes : public Nodes, public testing::WithParamInterface<Way> {
 protected:
  OfiNodes() : Nodes(4, 4, GetParam()) {}

  /// What the system takes long for is done less often there.
  [[nodiscard]] std::uint64_t rounds(std::uint64_t times) const { return fabric_ ? times : times / 10 + 1; }

  /// Node 1 closes its link to node 0, which leaves. Only then node 0 tells node 1.
  void leave_behind_a_closed_link() {
    auto& standing = memory_->board().card(0).standing;
    standing = static_cast<std::uint32_t>(host::Standing::left);
    at(1).close(0);
    at(0).publish(1, 3, 4);
    ASSERT_TRUE(until([&] { return at(0).drained(); }));
    EXPECT_TRUE(until([&] { return at(1).drained(); }));
    EXPECT_TRUE(ears_[1].lost_ones.empty());
    standing = static_cast<std::uint32_t>(host::Standing::joined);
  }
};

TEST_P(OfiNodes, KeepTheOrderOfEachLinkWhateverIsTakenWhen) { keep_the_order_of_each_link(rounds(10'000)); }
TEST_P(OfiNodes, MeetWhenAllBeginAtOnce) { meet_when_all_begin_at_once(); }
TEST_P(OfiNodes, HearTheLastOfEachWord) { hear_the_last_of_each_word(); }
TEST_P(OfiNodes, TellEachOtherTheirClocks) { tell_each_other_their_clocks(); }
TEST_P(OfiNodes, OneThatSleptInVainTellsThatItHasTakenAll) {
  tell_that_they_have_taken_all_when_they_slept_in_vain();
}

/// Where payloads are read from the sender's memory they may be written there.
TEST_P(OfiNodes, LendMemoryForPayloadsThatHaveNoPlaceYet) {
  constexpr std::size_t size = 100'000;
  const std::vector<std::byte> bytes = test::patterned(size, 1);
  const Transport::Slot lent = at(0).lend(1, Priority::low, size);
  if (lent.status == Status::too_big) GTEST_SKIP() << "they go in pieces";
  ASSERT_EQ(lent.status, Status::ok);
  EXPECT_EQ(lent.packet, nullptr);
  EXPECT_EQ(at(0).lend(1, Priority::low, 2000).status, Status::too_big) << "what fits a letter";
  EXPECT_EQ(at(0).lend(0, Priority::low, size).status, Status::too_big) << "to itself";
  EXPECT_EQ(at(0).lend(1, Priority::low, frame_payload_bytes + 1).status, Status::too_big);
  const Transport::Slot dropped = at(0).lend(1, Priority::low, size);
  ASSERT_EQ(dropped.status, Status::ok);
  EXPECT_NE(dropped.payload, lent.payload);
  std::ranges::copy(bytes, lent.payload);
  ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
  const Transport::Slot slot = at(0).claim_lent(lent);
  ASSERT_EQ(slot.status, Status::ok);
  EXPECT_EQ(slot.payload, lent.payload);
  slot.packet->words[0] = 2;
  slot.packet->payload_bytes = size;
  at(0).commit(slot, impl::Header::make(9, 1, 0, impl::flag::payload));
  ASSERT_EQ(send(0, 1, Priority::low, 3), Status::ok);
  ASSERT_EQ(next_word(1, Priority::low), 1u);
  const Transport::View view = next(1, Priority::low);
  ASSERT_TRUE(view);
  EXPECT_EQ(view.packet->words[0], 2u);
  EXPECT_TRUE(std::ranges::equal(at(1).payload_of(view).value().bytes(), bytes));
  at(1).release(view);
  ASSERT_EQ(next_word(1, Priority::low), 3u);
  at(0).close(1);
  EXPECT_EQ(at(0).lend(1, Priority::low, size).status, Status::unreachable);
  EXPECT_EQ(at(0).claim_lent(dropped).status, Status::unreachable);
  at(0).give_back(dropped);
}

TEST_P(OfiNodes, RefuseLentPayloadsWithoutCredit) {
  constexpr std::size_t size = 500'000;
  const Transport::Slot lent = at(0).lend(1, Priority::low, size);
  if (lent.status == Status::too_big) GTEST_SKIP() << "they go in pieces";
  const std::vector<std::byte> bytes = test::patterned(size, 1);
  std::size_t sent = 0;
  while (send(0, 1, Priority::low, sent, bytes) == Status::ok) ++sent;
  EXPECT_EQ(at(0).claim_lent(lent).status, Status::again);
  for (std::size_t i = 0; i < sent; ++i) ASSERT_EQ(next_word(1, Priority::low), i);
  ASSERT_TRUE(until([&] { return at(0).has_room(1, Priority::low, size); }));
  EXPECT_EQ(at(0).claim_lent(lent).status, Status::ok);
  at(0).give_back(lent);
}

/// More letters than a provider's queue has room for.
TEST_P(OfiNodes, LoseNothingOfWhatAPeerLeavesLying) {
  if (GetParam().provider == "shm")
    GTEST_SKIP()
        << "some 1000 letters may wait for a node that does not look (libfabric 1.17): then it is lost";
  pass(0, 1, Priority::low, 0);
  const std::vector<std::byte> bytes = test::patterned(1300, 1);  // a letter each
  std::map<Priority, std::uint64_t> sent;
  for (const Priority priority : both) {
    for (; send(0, 1, priority, sent[priority], bytes) == Status::ok; ++sent[priority]) at(0).progress();
  }
  EXPECT_GT(sent[Priority::low] + sent[Priority::high], 2048u);
  for (const auto& [priority, count] : sent) {
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(next_word(1, priority), i);
  }
}

/// Its endpoint goes at once, and with it what a provider has not delivered; the peer reads late.
TEST_P(OfiNodes, LoseNothingWhenTheyLeaveDrained) {
  const std::vector<std::byte> bytes = test::patterned(200'000, 1);
  for (std::uint64_t i = 0; i < 100; ++i)
    ASSERT_EQ(send(0, 1, both[i % 2], i,
                   i % 50 < 2 ? std::span<const std::byte>(bytes) : std::span<const std::byte>()),
              Status::ok);
  at(0).publish(1, 3, 4);
  ASSERT_TRUE(until([&] { return at(0).drained() && at(0).published(); }));
  memory_->board().card(0).standing = static_cast<std::uint32_t>(host::Standing::left);
  networks_[0].reset();
  for (const Priority priority : both) {
    for (std::uint64_t i = static_cast<std::uint64_t>(priority); i < 100; i += 2)
      ASSERT_EQ(next_word(1, priority), i);
  }
  EXPECT_EQ((ears_[1].words[{0, 3}]), 4u);
  at(1).close(0);
  EXPECT_EQ(send(1, 0, Priority::low, 0), Status::unreachable);
  EXPECT_TRUE(until([&] { return at(1).drained(); }));
  EXPECT_TRUE(ears_[1].lost_ones.empty());
}

/// Who leaves waits for that answer, and core may have heard of it before, by a node of the same host. The provider may be full.
TEST_P(OfiNodes, TellOneThatLeavesWhatCameThoughItsLinkIsClosed) {
  for (int round = 0; round < 10; ++round) {
    begin_anew();
    meet(0, 1);
    leave_behind_a_closed_link();
  }
}

/// Also where the one that leaves has never spoken to them, or is about to.
TEST_P(OfiNodes, GreetOneThatLeavesThoughItsLinkIsClosed) {
  for (int looks = -1; looks < 12; ++looks) {
    begin_anew();
    if (looks >= 0) at(0).publish(1, 3, 4);
    for (int i = 0; i < looks; ++i) progress();
    leave_behind_a_closed_link();
  }
}

/// When both are about to greet the other.
TEST_P(OfiNodes, GreetOneThatLeavesWhomTheyWereGreeting) {
  for (int looks = 0; looks < 12; ++looks) {
    begin_anew();
    static_cast<void>(send(1, 0, Priority::low, 1));
    for (int i = 0; i < looks; ++i) progress();
    leave_behind_a_closed_link();
  }
}

/// It may be reading long payloads there, which not every provider survives (dies_if_closed_reading).
TEST_P(OfiNodes, MayEndAfterTheirPeersWereClosed) {
  const std::vector<std::byte> bytes = test::patterned(1'000'000, 1);
  for (int looks = 0; looks < 40; ++looks) {
    for (int i = 0; i < 4; ++i) static_cast<void>(send(1, 0, Priority::low, 7, bytes));
    for (int i = 0; i < looks; ++i) progress();
    at(0).close(1);
    begin_anew();
    pass(1, 0, Priority::low, 1);
    ASSERT_FALSE(HasFailure()) << looks;
  }
}

/// The receiver does nothing until its descriptor says so, and loses nothing.
TEST_P(OfiNodes, AnArmedOneIsToldByItsDescriptor) {
  if (way_.provider == "net")
    GTEST_SKIP() << "its descriptor is readable for ever (libfabric 1.17): it never sleeps";
  pass(0, 1, Priority::low, 0);
  for (std::uint64_t i = 1; i < rounds(200); ++i) {
    ASSERT_TRUE(until([&] { return at(1).arm(everything); }));
    EXPECT_TRUE(at(1).still_armed(everything));
    ASSERT_EQ(send(0, 1, Priority::low, i), Status::ok);
    Transport::View view;
    sleep_until(
        1, everything, true, [&] { return static_cast<bool>(view = at(1).receive(Priority::low)); },
        [&] { at(0).progress(); });
    ASSERT_TRUE(view);
    ASSERT_EQ(view.packet->words[0], i);
    at(1).release(view);
  }
}

TEST_P(OfiNodes, WhatOneSendsToItselfWakesIt) {
  ASSERT_TRUE(until([&] { return at(1).arm(everything); }));
  ASSERT_EQ(send(1, 1, Priority::low, 5), Status::ok);
  EXPECT_TRUE(is_readable(at(1).wake_fd(), 60'000));
  at(1).disarm();
  EXPECT_EQ(next_word(1, Priority::low), 5u);
}

/// A send by inject brings no completion that could tell of it.
TEST_P(OfiNodes, AnArmedOneWhoseMessageIsRefusedIsWokenToTryAgain) {
  if (!fabric_) GTEST_SKIP() << "nobody can make it refuse one";
  pass(0, 1, Priority::low, 0);
  ASSERT_TRUE(until([&] { return at(0).arm({}); }));
  fabric_->refuse_sends(true);
  ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
  fabric_->refuse_sends(false);
  EXPECT_TRUE(is_readable(at(0).wake_fd(), 60'000));
  at(0).disarm();
  EXPECT_EQ(next_word(1, Priority::low), 1u);
}

/// Credit that comes wakes who was refused.
TEST_P(OfiNodes, RoomWakesWhoWasRefused) {
  const std::vector<std::byte> bytes = test::patterned(60'000, 1);
  while (send(0, 1, Priority::low, 0, bytes) == Status::ok) {
  }
  ASSERT_TRUE(until([&] { return !at(0).has_room(1, Priority::low, bytes.size()) && at(0).arm({}); }));
  sleep_until(
      0, {}, true, [&] { return at(0).has_room(1, Priority::low, bytes.size()); },
      [&] {
        at(1).progress();
        if (const Transport::View view = at(1).receive(Priority::low)) at(1).release(view);
      });
}

INSTANTIATE_TEST_SUITE_P(, OfiNodes, testing::ValuesIn(all_ways()), name_of);

}  // namespace am::ofi::ofi_transport_test
