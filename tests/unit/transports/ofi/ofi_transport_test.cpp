// Nodes that talk over libfabric, whatever the provider.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "host/clock.hpp"
#include "support/random.hpp"
#include "transports/frames/frames.hpp"
#include "unit/transports/ofi/ways.hpp"

namespace am::ofi {
namespace ofi_transport_test {

class OfiNodes : public Nodes, public testing::WithParamInterface<Way> {
 protected:
  static constexpr NodeId nodes = 4;

  OfiNodes() : Nodes(nodes, nodes, GetParam()) {}

  /// What the system takes long for is done less often there.
  [[nodiscard]] std::uint64_t rounds(std::uint64_t times) const { return fabric_ ? times : times / 10 + 1; }
};

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(test::mix(size, i));
  return bytes;
}

TEST_P(OfiNodes, ReachEachOtherAndThemselvesAtBothPriorities) {
  for (NodeId from = 0; from < nodes; ++from) {
    for (NodeId to = 0; to < nodes; ++to) {
      for (const Priority priority : both) {
        const std::uint64_t word = from * 100 + to * 10 + static_cast<unsigned>(priority);
        ASSERT_EQ(send(from, to, priority, word), Status::ok);
        EXPECT_GT(at(from).queued(to, priority), 0u);
        NodeId source = nodes;
        ASSERT_EQ(next_word(to, priority, &source), word);
        EXPECT_EQ(source, from);
      }
    }
  }
}

TEST_P(OfiNodes, SayWhetherAnythingIsThere) { say_whether_anything_is_there(); }

/// Where payloads are read from the sender's memory they may be written there.
TEST_P(OfiNodes, LendMemoryForPayloadsThatHaveNoPlaceYet) {
  constexpr std::size_t size = 100'000;
  const std::vector<std::byte> bytes = some_bytes(size);
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
  const auto payload = at(1).payload_of(view);
  ASSERT_TRUE(payload);
  EXPECT_TRUE(std::ranges::equal(std::span(payload->data(), payload->size()), bytes));
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
  const std::vector<std::byte> bytes = some_bytes(size);
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
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(next_word(1, Priority::low), 0u);
  const std::vector<std::byte> bytes = some_bytes(1300);  // a letter each
  std::array<std::uint64_t, 2> sent{};
  for (const Priority priority : both) {
    std::uint64_t& count = sent[static_cast<std::size_t>(priority)];
    for (; send(0, 1, priority, count, bytes) == Status::ok; ++count) at(0).progress();
  }
  EXPECT_GT(sent[0] + sent[1], 2048u);
  for (const Priority priority : both) {
    for (std::uint64_t i = 0; i < sent[static_cast<std::size_t>(priority)]; ++i)
      ASSERT_EQ(next_word(1, priority), i);
  }
}

/// Short messages stand around each payload, and keep their places.
TEST_P(OfiNodes, BringPayloadsOfEverySizeWholeAndInOrder) {
  for (const std::size_t size :
       {1,    15,   16,   17,     1023,   1024,   1025,   3900,    4000,      4096,
        8000, 8080, 8192, 40'000, 65'535, 65'536, 65'537, 500'000, 1'048'575, 1'048'576}) {
    for (const NodeId to : {NodeId{1}, NodeId{0}}) {
      const std::vector<std::byte> bytes = some_bytes(size);
      std::size_t sent = 0;
      std::size_t came = 0;
      std::uint64_t pieces = 0;
      const auto receive_some = [&] {
        while (const Transport::View view = at(to).receive(Priority::low)) {
          const auto payload = at(to).payload_of(view);
          EXPECT_TRUE(payload);
          if (view.head.has(impl::flag::payload)) {
            ASSERT_LE(came + payload->size(), size);
            EXPECT_EQ(view.packet->words[0], came);
            EXPECT_EQ(std::memcmp(payload->data(), bytes.data() + came, payload->size()), 0) << size;
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload->data()) % impl::payload_alignment, 0u);
            came += payload->size();
          } else {
            ASSERT_EQ(view.packet->words[0], pieces++) << "a short one overtook, or was overtaken";
          }
          at(to).release(view);
        }
      };
      std::uint64_t shorts = 0;
      while (sent < size) {
        while (send(0, to, Priority::low, shorts) == Status::again) progress(), receive_some();
        ++shorts;
        std::size_t piece = 0;
        while (send(0, to, Priority::low, sent, std::span(bytes).subspan(sent), &piece) == Status::again) {
          progress();
          receive_some();
          ASSERT_FALSE(HasFatalFailure());
        }
        sent += piece;
      }
      ASSERT_TRUE(until([&] {
        receive_some();
        return HasFatalFailure() || (came == size && pieces == shorts);
      })) << size;
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

/// Any mixture of sizes and priorities, received at any time, in the order of each link; more of it than all windows hold.
TEST_P(OfiNodes, KeepTheOrderOfEachLinkWhateverIsTakenWhen) {
  test::Random random(test::seed());
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> sent[2];
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> received[2];
  std::uint64_t left = rounds(10'000);
  const std::vector<std::byte> bytes = some_bytes(150'000);
  const auto receive_some = [&](NodeId node, bool all) {
    for (const Priority priority : both) {
      while (const Transport::View view = at(node).receive(priority)) {
        if (!all && random() % 4 == 0) {
          at(node).defer(view);
          if (random() % 2 == 0) break;
          continue;
        }
        ASSERT_EQ(view.packet->words[0],
                  (received[static_cast<std::size_t>(priority)][{view.source, node}]++));
        const auto payload = at(node).payload_of(view);
        ASSERT_TRUE(payload);
        ASSERT_TRUE(payload->empty() || std::memcmp(payload->data(), bytes.data(), payload->size()) == 0);
        at(node).release(view);
      }
    }
  };
  while (left != 0) {
    const auto from = static_cast<NodeId>(random() % nodes);
    const auto to = static_cast<NodeId>(random() % nodes);
    const Priority priority = both[random() % 2];
    const std::size_t size = random() % 8 != 0 ? random() % 64 : random() % bytes.size();
    std::uint64_t& number = sent[static_cast<std::size_t>(priority)][{from, to}];
    const Status status = send(from, to, priority, number, std::span(bytes).first(size));
    ASSERT_TRUE(status == Status::ok || status == Status::again);
    if (status == Status::ok) {
      ++number;
      --left;
    }
    if (status == Status::again || random() % 16 == 0) {
      for (NodeId node = 0; node < nodes; ++node) {
        at(node).progress();
        receive_some(node, false);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }
  ASSERT_TRUE(until([&] {
    for (NodeId node = 0; node < nodes; ++node) receive_some(node, true);
    return HasFatalFailure() || (sent[0] == received[0] && sent[1] == received[1]);
  }));
  for (NodeId node = 0; node < nodes; ++node) EXPECT_TRUE(until([&] { return at(node).drained(); }));
  for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
}

/// The receiver takes no low message; all low credits are used up.
TEST_P(OfiNodes, HighIsNotHeldUpByLow) {
  const std::vector<std::byte> bytes = some_bytes(60'000);
  std::uint64_t low = 0;
  while (send(0, 1, Priority::low, low, bytes) == Status::ok) ++low;
  EXPECT_GT(low, 3u);
  while (send(0, 1, Priority::low, low) == Status::ok) ++low;
  EXPECT_FALSE(at(0).has_room(1, Priority::low, 0));
  for (std::uint64_t i = 0; i < rounds(1000); ++i) {
    ASSERT_EQ(send(0, 1, Priority::high, i), Status::ok);
    ASSERT_EQ(next_word(1, Priority::high), i);
  }
  for (std::uint64_t i = 0; i < low; ++i) ASSERT_EQ(next_word(1, Priority::low), i);
  EXPECT_TRUE(until([&] { return send(0, 1, Priority::low, 0, bytes) == Status::ok; }))
      << "credit comes back";
}

/// All begin to talk to all before anybody has looked.
TEST_P(OfiNodes, MeetWhenAllBeginAtOnce) {
  for (int round = 0; round < 3; ++round) {
    for (NodeId from = 0; from < nodes; ++from) {
      for (NodeId to = 0; to < nodes; ++to) ASSERT_EQ(send(from, to, Priority::low, from), Status::ok);
    }
    for (NodeId to = 0; to < nodes; ++to) {
      std::uint64_t sum = 0;
      for (NodeId from = 0; from < nodes; ++from) sum += next_word(to, Priority::low);
      ASSERT_EQ(sum, 0u + 1 + 2 + 3);
    }
  }
  for (NodeId node = 0; node < nodes; ++node) {
    EXPECT_TRUE(ears_[node].lost_ones.empty());
    EXPECT_TRUE(until([&] { return at(node).drained(); }));
    EXPECT_FALSE(at(node).receive(Priority::low)) << "nothing comes twice";
  }
}

TEST_P(OfiNodes, HearTheLastOfEachWord) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    at(2).publish(3, 7, i);
    at(2).publish(3, 8, 2 * i);
    if (i % 100 == 0) progress();
  }
  EXPECT_TRUE(until([&] { return ears_[3].words[{2, 7}] == 9'999 && ears_[3].words[{2, 8}] == 2 * 9'999; }));
  EXPECT_TRUE(until([&] { return at(2).published(); }));
}

TEST_P(OfiNodes, TellEachOtherTheirClocks) {
  const std::uint64_t before = host::monotonic_ns();
  for (NodeId to = 1; to < nodes; ++to) at(0).ask_clock(to);
  ASSERT_TRUE(until([&] { return ears_[0].clocks.size() == nodes - 1; }));
  for (const Ear::Clock& clock : ears_[0].clocks) {
    EXPECT_NE(clock.from, 0u);
    EXPECT_GE(clock.asked, before);
    EXPECT_GE(clock.told, clock.asked);
    EXPECT_LE(clock.told, host::monotonic_ns());
  }
}

/// Its endpoint goes at once, and with it what a provider has not delivered; the peer reads late.
TEST_P(OfiNodes, LoseNothingWhenTheyLeaveDrained) {
  const std::vector<std::byte> bytes = some_bytes(200'000);
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

/// It may be reading long payloads there, which not every provider survives (dies_if_closed_reading).
TEST_P(OfiNodes, MayEndAfterTheirPeersWereClosed) {
  const std::vector<std::byte> bytes = some_bytes(1'000'000);
  for (int looks = 0; looks < 40; ++looks) {
    for (int i = 0; i < 4; ++i) static_cast<void>(send(1, 0, Priority::low, 7, bytes));
    for (int i = 0; i < looks; ++i) progress();
    at(0).close(1);
    networks_[0].reset();
    networks_[1].reset();
    for (const NodeId node : {NodeId{0}, NodeId{1}}) open(node);
    ASSERT_EQ(send(1, 0, Priority::low, 1), Status::ok);
    ASSERT_EQ(next_word(0, Priority::low), 1u);
  }
}

TEST_P(OfiNodes, ClosedOnesAreUnreachable) {
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(send(1, 0, Priority::low, 77), Status::ok);
  ASSERT_TRUE(until([&] { return at(1).drained(); }));
  at(0).close(1);
  EXPECT_EQ(send(0, 1, Priority::low, 0), Status::unreachable);
  EXPECT_EQ(next_word(0, Priority::low), 77u) << "what it had sent before";
}

/// The receiver does nothing until its descriptor says so, and loses nothing.
TEST_P(OfiNodes, AnArmedOneIsToldByItsDescriptor) {
  if (way_.provider == "net")
    GTEST_SKIP() << "its descriptor is readable for ever (libfabric 1.17): it never sleeps";
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(next_word(1, Priority::low), 0u);
  for (std::uint64_t i = 1; i < rounds(200); ++i) {
    ASSERT_TRUE(until([&] { return at(1).arm({.high = true, .low = true}); }));
    EXPECT_TRUE(at(1).still_armed({.high = true, .low = true}));
    ASSERT_EQ(send(0, 1, Priority::low, i), Status::ok);
    Transport::View view;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!(view = at(1).receive(Priority::low))) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it sleeps for ever";
      at(0).progress();
      if (!is_readable(at(1).wake_fd(), 1)) continue;
      at(1).disarm();
      while (at(1).progress()) {
      }
      if (at(1).arm({.high = true, .low = true})) continue;
    }
    ASSERT_EQ(view.packet->words[0], i);
    at(1).release(view);
    at(1).disarm();
  }
}

TEST_P(OfiNodes, WhatOneSendsToItselfWakesIt) {
  ASSERT_TRUE(until([&] { return at(1).arm({.high = true, .low = true}); }));
  ASSERT_EQ(send(1, 1, Priority::low, 5), Status::ok);
  EXPECT_TRUE(is_readable(at(1).wake_fd(), 60'000));
  at(1).disarm();
  EXPECT_EQ(next_word(1, Priority::low), 5u);
}

/// A send by inject brings no completion that could tell of it.
TEST_P(OfiNodes, AnArmedOneWhoseMessageIsRefusedIsWokenToTryAgain) {
  if (!fabric_) GTEST_SKIP() << "nobody can make it refuse one";
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(next_word(1, Priority::low), 0u);
  ASSERT_TRUE(until([&] { return at(0).arm({}); }));
  fabric_->refuse_sends(true);
  ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
  fabric_->refuse_sends(false);
  EXPECT_TRUE(is_readable(at(0).wake_fd(), 60'000));
  at(0).disarm();
  EXPECT_EQ(next_word(1, Priority::low), 1u);
}

/// So that who waits for it, and says what nobody takes, says nothing that is not so.
TEST_P(OfiNodes, OneThatSleptInVainTellsThatItHasTakenAll) {
  for (const Priority priority : both) {
    ASSERT_EQ(send(0, 1, priority, 7), Status::ok);
    ASSERT_EQ(next_word(1, priority), 7u);
  }
  EXPECT_GT(at(0).queued(1, Priority::low), 0u);
  for (int sleep = 0; sleep < 2; ++sleep) {
    ASSERT_TRUE(until([&] { return at(1).arm({.high = true, .low = true}); }));
    at(1).disarm();
  }
  EXPECT_TRUE(
      until([&] { return at(0).queued(1, Priority::low) == 0 && at(0).queued(1, Priority::high) == 0; }));
}

/// Credit that comes wakes who was refused.
TEST_P(OfiNodes, RoomWakesWhoWasRefused) {
  const std::vector<std::byte> bytes = some_bytes(60'000);
  while (send(0, 1, Priority::low, 0, bytes) == Status::ok) {
  }
  ASSERT_TRUE(until([&] { return !at(0).has_room(1, Priority::low, bytes.size()) && at(0).arm({}); }));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool has_room = false;
  while (!has_room) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it sleeps for ever";
    at(1).progress();
    if (const Transport::View view = at(1).receive(Priority::low)) at(1).release(view);
    if (!is_readable(at(0).wake_fd(), 0)) continue;
    at(0).disarm();
    while (at(0).progress()) {
    }
    has_room = at(0).has_room(1, Priority::low, bytes.size());
    if (!has_room && !at(0).arm({})) at(0).disarm();
  }
}

INSTANTIATE_TEST_SUITE_P(, OfiNodes, testing::ValuesIn(all_ways()), name_of);

}  // namespace ofi_transport_test
}  // namespace am::ofi
