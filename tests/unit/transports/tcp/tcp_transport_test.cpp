// Nodes that talk over TCP.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "host/clock.hpp"
#include "support/random.hpp"
#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp {
namespace tcp_transport_test {

class TcpNodes : public Nodes, public testing::WithParamInterface<bool> {
 protected:
  static constexpr NodeId nodes = 4;

  TcpNodes() : Nodes(nodes, nodes, GetParam()) {}
};

TEST_P(TcpNodes, ReachEachOtherAndThemselvesAtBothPriorities) {
  for (NodeId from = 0; from < nodes; ++from) {
    for (NodeId to = 0; to < nodes; ++to) {
      for (const Priority priority : both) {
        const std::uint64_t word = from * 100 + to * 10 + static_cast<unsigned>(priority);
        ASSERT_EQ(send(from, to, priority, word), Status::ok);
        EXPECT_GT(at(from).queued(to, priority), 0u);
        NodeId source = nodes;
        EXPECT_EQ(next_word(to, priority, &source), word);
        EXPECT_EQ(source, from);
      }
    }
  }
}

TEST_P(TcpNodes, SayWhetherAnythingIsThere) { say_whether_anything_is_there(); }

TEST_P(TcpNodes, BringPayloadsOfEverySizeWhole) {
  for (const std::size_t size : {1, 15, 16, 17, 1023, 1024, 1025, 4000, 40'000, 65'535, 65'536}) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 13 + size);
    ASSERT_EQ(send(0, 1, Priority::low, size, bytes), Status::ok);
    const Transport::View view = next(1, Priority::low);
    ASSERT_TRUE(view);
    const auto payload = at(1).payload_of(view);
    ASSERT_TRUE(payload);
    ASSERT_EQ(payload->size(), size);
    EXPECT_EQ(std::memcmp(payload->data(), bytes.data(), size), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload->data()) % impl::payload_alignment, 0u);
    at(1).release(view);
  }
}

/// More of it than the window holds: what lies elsewhere gives its credit back, too.
TEST_P(TcpNodes, PutPayloadsWhereTheyBelong) {
  std::vector<std::byte> bytes(1'000'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(test::mix(1, i));
  std::vector<std::byte> place;
  std::uint64_t placed = 0;
  places_[1].answer = [&](const Coming& message) {
    EXPECT_EQ(message.from, 0u);
    EXPECT_EQ(message.priority, Priority::low);
    EXPECT_EQ(message.words.size(), 1u);
    EXPECT_EQ(message.payload_bytes, bytes.size());
    return place.data();
  };
  for (std::uint64_t i = 0; i < 10; ++i) {
    place.assign(bytes.size(), std::byte{});
    ASSERT_TRUE(until([&] { return send(0, 1, Priority::low, i, bytes) == Status::ok; }));
    const Transport::View view = next(1, Priority::low);
    ASSERT_TRUE(view);
    EXPECT_EQ(view.packet->words[0], i);
    const auto payload = at(1).payload_of(view);
    ASSERT_TRUE(payload);
    if (payload->data() == place.data()) ++placed;
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), payload->data(), payload->data() + payload->size()));
    at(1).release(view);
  }
  EXPECT_GT(placed, 0u);
}

/// What is older was written where it belongs, though nobody has looked at it yet.
TEST_P(TcpNodes, PutPayloadsWhereTheyBelongOneBehindTheOther) {
  const std::vector<std::byte> bytes(1'000'000, std::byte{1});
  std::vector<std::vector<std::byte>> places(20, std::vector<std::byte>(bytes.size()));
  places_[1].answer = [&](const Coming& message) { return places[message.words[0]].data(); };
  std::uint64_t placed = 0;
  std::uint64_t received = 0;
  for (std::uint64_t sent = 0; received < places.size();) {
    while (sent < places.size() && send(0, 1, Priority::low, sent, bytes) == Status::ok) ++sent;
    for (int i = 0; i < 100; ++i) progress();
    while (const Transport::View view = at(1).receive(Priority::low)) {
      if (at(1).payload_of(view)->data() == places[received].data()) ++placed;
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(1).payload_of(view)->data()));
      ++received;
      at(1).release(view);
    }
  }
  EXPECT_GT(placed, places.size() / 2);
}

/// The handler finds that out, where it writes there.
TEST_P(TcpNodes, KeepAPayloadWhosePlaceIsNoMemory) {
  if (GetParam()) GTEST_SKIP() << "TLS writes there itself: it ends as a handler would";
  std::vector<std::byte> bytes(1'000'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(test::mix(1, i));
  constexpr std::size_t writable = 512 * 1024;
  void* const place = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<std::byte*>(place) + writable, bytes.size() - writable, PROT_READ), 0);
  places_[1].answer = [&](const Coming&) { return static_cast<std::byte*>(place); };
  ASSERT_EQ(send(0, 1, Priority::low, 1, bytes), Status::ok);
  const Transport::View view = next(1, Priority::low);
  ASSERT_TRUE(view);
  const auto payload = at(1).payload_of(view);
  EXPECT_NE(payload->data(), place);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), payload->data(), payload->data() + payload->size()));
  at(1).release(view);
  ASSERT_EQ(send(0, 1, Priority::low, 2), Status::ok);
  EXPECT_EQ(next_word(1, Priority::low), 2u) << "the connection goes on";
  munmap(place, bytes.size());
}

/// It would be written before what is older.
TEST_P(TcpNodes, PutNoPayloadAnywhereWhileSomethingOlderWaits) {
  const std::vector<std::byte> bytes(1'000'000, std::byte{1});
  std::vector<std::byte> place(bytes.size());
  std::uint64_t asked = 0;
  places_[1].answer = [&](const Coming&) {
    ++asked;
    return place.data();
  };
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  const Transport::View older = next(1, Priority::low);
  ASSERT_EQ(send(0, 1, Priority::low, 1, bytes), Status::ok);
  ASSERT_EQ(send(0, 1, Priority::high, 2), Status::ok);
  EXPECT_EQ(next_word(1, Priority::high), 2u) << "behind the payload";
  EXPECT_EQ(asked, 0u);
  at(1).release(older);
  const Transport::View later = next(1, Priority::low);
  EXPECT_NE(at(1).payload_of(later)->data(), place.data());
  at(1).release(later);
  EXPECT_EQ(place, std::vector<std::byte>(place.size()));
}

/// Any mixture of sizes and priorities, received at any time, in the order of each link; more of it than all windows hold.
TEST_P(TcpNodes, KeepTheOrderOfEachLinkWhateverIsTakenWhen) {
  test::Random random(test::seed());
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> sent[2];
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> received[2];
  std::uint64_t left = 20'000;
  const std::vector<std::byte> bytes(70'000);
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
        at(node).release(view);
      }
    }
  };
  while (left != 0) {
    const auto from = static_cast<NodeId>(random() % nodes);
    const auto to = static_cast<NodeId>(random() % nodes);
    const Priority priority = both[random() % 2];
    const std::size_t size = random() % 8 != 0 ? random() % 64 : random() % 65'536;
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
      }
    }
  }
  ASSERT_TRUE(until([&] {
    for (NodeId node = 0; node < nodes; ++node) receive_some(node, true);
    return HasFatalFailure() || (sent[0] == received[0] && sent[1] == received[1]);
  }));
  for (NodeId node = 0; node < nodes; ++node) EXPECT_TRUE(until([&] { return at(node).drained(); }));
}

/// The receiver takes no low message; all low credits are used up, and the socket is as full as they make it.
TEST_P(TcpNodes, HighIsNotHeldUpByLow) {
  const std::vector<std::byte> bytes(60'000);
  std::uint64_t low = 0;
  while (send(0, 1, Priority::low, low, bytes) == Status::ok) ++low;
  EXPECT_GT(low, 3u);
  while (send(0, 1, Priority::low, low) == Status::ok) ++low;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(send(0, 1, Priority::high, i), Status::ok);
    EXPECT_EQ(next_word(1, Priority::high), i);
  }
  for (std::uint64_t i = 0; i < low; ++i) EXPECT_EQ(next_word(1, Priority::low), i);
  EXPECT_TRUE(until([&] { return send(0, 1, Priority::low, 0, bytes) == Status::ok; }))
      << "credit comes back";
}

/// All begin to talk to all before anybody has looked.
TEST_P(TcpNodes, SettleOnOneConnectionWhenBothConnect) {
  for (int round = 0; round < 3; ++round) {
    for (NodeId from = 0; from < nodes; ++from) {
      for (NodeId to = 0; to < nodes; ++to) ASSERT_EQ(send(from, to, Priority::low, from), Status::ok);
    }
    for (NodeId to = 0; to < nodes; ++to) {
      std::uint64_t sum = 0;
      for (NodeId from = 0; from < nodes; ++from) sum += next_word(to, Priority::low);
      EXPECT_EQ(sum, 0u + 1 + 2 + 3);
    }
  }
  for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
}

TEST_P(TcpNodes, HearTheLastOfEachWord) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    at(2).publish(3, 7, i);
    at(2).publish(3, 8, 2 * i);
    if (i % 100 == 0) progress();
  }
  EXPECT_TRUE(until([&] { return ears_[3].words[{2, 7}] == 9'999 && ears_[3].words[{2, 8}] == 2 * 9'999; }));
  EXPECT_TRUE(until([&] { return at(2).published(); }));
}

TEST_P(TcpNodes, TellEachOtherTheirClocks) {
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

TEST_P(TcpNodes, AreNotLostWhenTheyLeaveInOrder) {
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(send(0, 1, Priority::low, i), Status::ok);
  ASSERT_EQ(send(1, 0, Priority::low, 5), Status::ok);  // which it never reads
  ASSERT_EQ(next_word(1, Priority::low), 0u);
  ASSERT_TRUE(until([&] { return at(0).drained(); }));
  networks_[0].reset();
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_EQ(next_word(1, Priority::low), i);
  EXPECT_TRUE(until([&] { return send(1, 0, Priority::low, 0) == Status::unreachable; }));
  EXPECT_TRUE(ears_[1].lost_ones.empty());
}

TEST_P(TcpNodes, AreLostWhenTheyCannotBeReached) {
  networks_[2].reset();
  testing::internal::CaptureStderr();
  ASSERT_EQ(send(0, 2, Priority::low, 0), Status::ok);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  EXPECT_EQ(ears_[0].lost_ones, std::vector<NodeId>{2});
  EXPECT_EQ(send(0, 2, Priority::low, 0), Status::unreachable);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no connection to node 2"), std::string::npos);
}

TEST_P(TcpNodes, ClosedOnesAreUnreachable) {
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(send(1, 0, Priority::low, 77), Status::ok);
  ASSERT_TRUE(until([&] { return at(1).drained(); }));
  at(0).close(1);
  EXPECT_EQ(send(0, 1, Priority::low, 0), Status::unreachable);
  EXPECT_EQ(next_word(0, Priority::low), 77u) << "what it had sent before";
}

/// Wakes by its descriptor, and only for what it is to wake for.
TEST_P(TcpNodes, AnArmedOneIsToldByItsDescriptor) {
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  ASSERT_EQ(next_word(1, Priority::low), 0u);
  ASSERT_TRUE(until([&] { return at(1).arm({.high = true, .low = true}); }));
  EXPECT_TRUE(at(1).still_armed({.high = true, .low = true}));
  at(1).disarm();
  ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
  at(0).flush();
  EXPECT_TRUE(until([&] { return at(0).drained(); }));
  EXPECT_FALSE(at(1).arm({.high = true, .low = true})) << "it is there already, or in the socket";
  EXPECT_EQ(next_word(1, Priority::low), 1u);
}

/// However often it looks meanwhile: it may compute the next moment.
TEST_P(TcpNodes, AnArmedOneThatLooksIsStillTold) {
  constexpr Transport::Wanted all{.high = true, .low = true};
  std::uint64_t word = 0;
  for (const int looks : {1, 40, 300, 100'000}) {
    ASSERT_EQ(send(0, 1, Priority::low, ++word), Status::ok);
    ASSERT_EQ(next_word(1, Priority::low), word);
    ASSERT_TRUE(until([&] { return at(1).arm(all); }));
    for (int i = 0; i < looks; ++i) at(1).progress();
    ASSERT_TRUE(at(1).still_armed(all));
    ASSERT_EQ(send(0, 1, Priority::low, ++word), Status::ok);
    at(0).flush();
    constexpr int patience_ms = 20'000;
    EXPECT_TRUE(is_readable(at(1).wake_fd(), patience_ms)) << "after " << looks << " looks";
    at(1).disarm();
    ASSERT_EQ(next_word(1, Priority::low), word);
  }
}

/// So that who waits for it, and says what nobody takes, says nothing that is not so.
TEST_P(TcpNodes, OneThatSleptInVainTellsThatItHasTakenAll) {
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

/// Of the addresses that a node tells, one may lead nowhere, and one to somebody else who has the same.
TEST_P(TcpNodes, TryAllAddressesOfANode) {
  const host::Board& board = memory_->board();
  const std::string own = board.card(1).address;
  const std::string addresses = "127.0.0.1:1," + std::string(board.card(2).address) + "," + own;
  ASSERT_LT(addresses.size(), sizeof board.card(1).address);
  std::ranges::copy(addresses + '\0', board.card(1).address);
  ASSERT_EQ(send(0, 1, Priority::low, 5), Status::ok);
  EXPECT_EQ(next_word(1, Priority::low), 5u);
  EXPECT_TRUE(ears_[0].lost_ones.empty());
}

TEST_P(TcpNodes, LoseOneThatNoAddressLeadsTo) {
  const host::Board& board = memory_->board();
  const std::string addresses = std::string(board.card(2).address) + "," + board.card(3).address;
  std::ranges::copy(addresses + '\0', board.card(1).address);
  testing::internal::CaptureStderr();
  ASSERT_EQ(send(0, 1, Priority::low, 5), Status::ok);
  EXPECT_TRUE(until([&] { return !ears_[0].lost_ones.empty(); }));
  EXPECT_EQ(ears_[0].lost_ones, std::vector<NodeId>{1});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no connection to node 1 any more"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, TcpNodes, testing::Bool(), [](const testing::TestParamInfo<bool>& with_tls) {
  return with_tls.param ? "with_tls" : "plain";
});

}  // namespace tcp_transport_test
}  // namespace am::tcp
