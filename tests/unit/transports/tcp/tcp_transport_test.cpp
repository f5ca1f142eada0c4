// Nodes that talk over TCP.
#include <sys/mman.h>

#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp::tcp_transport_test {

class TcpNodes : public Nodes, public testing::WithParamInterface<bool> {
 protected:
  TcpNodes() : Nodes(4, 4, GetParam()) {}

  /// Of a message to node 1 that carries the megabyte, and is released: where that lies.
  const std::byte* place_of(const Transport::View& view) {
    const auto payload = at(1).payload_of(view);
    EXPECT_TRUE(payload && std::ranges::equal(megabyte_, payload->bytes()));
    at(1).release(view);
    return payload->data();
  }
  /// All the addresses that others have of node 1.
  void tell_addresses(const std::string& text) {
    ASSERT_LT(text.size(), sizeof memory_->board().card(1).address);
    std::ranges::copy(text + '\0', memory_->board().card(1).address);
  }
  std::string address_of(NodeId node) { return memory_->board().card(node).address; }

  const std::vector<std::byte> megabyte_ = test::patterned(1'000'000, 1);
};

TEST_P(TcpNodes, KeepTheOrderOfEachLinkWhateverIsTakenWhen) { keep_the_order_of_each_link(10'000); }
TEST_P(TcpNodes, SettleOnOneConnectionWhenBothConnect) { meet_when_all_begin_at_once(); }
TEST_P(TcpNodes, HearTheLastOfEachWord) { hear_the_last_of_each_word(); }
TEST_P(TcpNodes, TellEachOtherTheirClocks) { tell_each_other_their_clocks(); }
TEST_P(TcpNodes, OneThatSleptInVainTellsThatItHasTakenAll) {
  tell_that_they_have_taken_all_when_they_slept_in_vain();
}

/// What is older was written where it belongs, though nobody has looked at it yet. It is more than the window holds: what lies
/// elsewhere gives its credit back, too.
TEST_P(TcpNodes, PutPayloadsWhereTheyBelong) {
  std::vector<std::vector<std::byte>> places(8, std::vector<std::byte>(megabyte_.size()));
  places_[1].answer = [&](const Coming& message) {
    EXPECT_EQ(message.from, 0u);
    EXPECT_EQ(message.priority, Priority::low);
    EXPECT_EQ(message.words.size(), 1u);
    EXPECT_EQ(message.payload_bytes, megabyte_.size());
    return places[message.words[0]].data();
  };
  std::uint64_t placed = 0;
  std::uint64_t received = 0;
  for (std::uint64_t sent = 0; received < places.size();) {
    while (sent < places.size() && send(0, 1, Priority::low, sent, megabyte_) == Status::ok) ++sent;
    for (int i = 0; i < 100; ++i) progress();
    while (const Transport::View view = at(1).receive(Priority::low)) {
      EXPECT_EQ(view.packet->words[0], received);
      if (place_of(view) == places[received++].data()) ++placed;
    }
  }
  EXPECT_GT(placed, places.size() / 2);
}

/// Some of these places are slow to send from, so the payload goes from a copy.
TEST_P(TcpNodes, SendPayloadsFromAnyPlaceOfAPage) {
  constexpr std::size_t page = 4096;
  const std::size_t to_page = -reinterpret_cast<std::uintptr_t>(megabyte_.data()) % page;
  for (std::size_t place = to_page; place < to_page + page; place += 16) {
    const std::span payload = std::span<const std::byte>(megabyte_).subspan(place, 70'000 + place / 16 % 7);
    ASSERT_EQ(send(0, 1, Priority::low, place, payload), Status::ok);
    const Transport::View view = next(1, Priority::low);
    const std::optional<Payload> came = at(1).payload_of(view);
    EXPECT_TRUE(came && std::ranges::equal(payload, came->bytes())) << place;
    at(1).release(view);
  }
}

/// The handler finds that out, where it writes there.
TEST_P(TcpNodes, KeepAPayloadWhosePlaceIsNoMemory) {
  if (GetParam()) GTEST_SKIP() << "TLS writes there itself: it ends as a handler would";
  constexpr std::size_t writable = 512 * 1024;
  const std::size_t bytes = megabyte_.size();
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<std::byte*>(place) + writable, bytes - writable, PROT_READ), 0);
  places_[1].answer = [&](const Coming&) { return static_cast<std::byte*>(place); };
  ASSERT_EQ(send(0, 1, Priority::low, 1, megabyte_), Status::ok);
  EXPECT_NE(place_of(next(1, Priority::low)), place);
  pass(0, 1, Priority::low, 2);  // the connection goes on
  munmap(place, bytes);
}

/// It would be written before what is older.
TEST_P(TcpNodes, PutNoPayloadAnywhereWhileSomethingOlderWaits) {
  std::vector<std::byte> place(megabyte_.size());
  std::uint64_t asked = 0;
  places_[1].answer = [&](const Coming&) {
    ++asked;
    return place.data();
  };
  ASSERT_EQ(send(0, 1, Priority::low, 0), Status::ok);
  const Transport::View older = next(1, Priority::low);
  ASSERT_EQ(send(0, 1, Priority::low, 1, megabyte_), Status::ok);
  ASSERT_EQ(send(0, 1, Priority::high, 2), Status::ok);
  EXPECT_EQ(next_word(1, Priority::high), 2u) << "behind the payload";
  EXPECT_EQ(asked, 0u);
  at(1).release(older);
  EXPECT_NE(place_of(next(1, Priority::low)), place.data());
  EXPECT_EQ(place, std::vector<std::byte>(place.size()));
}

/// However often it looks meanwhile: it may compute the next moment.
TEST_P(TcpNodes, AnArmedOneThatLooksIsStillTold) {
  std::uint64_t word = 0;
  for (const int looks : {1, 40, 300, 100'000}) {
    pass(0, 1, Priority::low, ++word);
    ASSERT_TRUE(until([&] { return at(1).arm(everything); }));
    for (int i = 0; i < looks; ++i) at(1).progress();
    ASSERT_TRUE(at(1).still_armed(everything));
    ASSERT_EQ(send(0, 1, Priority::low, ++word), Status::ok);
    at(0).flush();
    constexpr int patience_ms = 20'000;
    EXPECT_TRUE(is_readable(at(1).wake_fd(), patience_ms)) << "after " << looks << " looks";
    at(1).disarm();
    ASSERT_EQ(next_word(1, Priority::low), word);
  }
}

/// Of the addresses that a node tells, one may lead nowhere, and one to somebody else who has the same.
TEST_P(TcpNodes, TryAllAddressesOfANode) {
  tell_addresses("127.0.0.1:1," + address_of(2) + "," + address_of(1));
  pass(0, 1, Priority::low, 5);
  expect_nobody_is_lost();
}

/// Nobody is there, or only others are.
TEST_P(TcpNodes, AreLostWhenTheyCannotBeReached) {
  networks_[2].reset();
  tell_addresses(address_of(2) + "," + address_of(3));
  for (const NodeId peer : {2u, 1u}) {
    ears_[0].lost_ones.clear();
    const std::string said = loss(0, peer, [&] { ASSERT_EQ(send(0, peer, Priority::low, 0), Status::ok); });
    EXPECT_NE(said.find("no connection to node " + std::to_string(peer)), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(, TcpNodes, testing::Bool(), plain_or_with_tls);

}  // namespace am::tcp::tcp_transport_test
