// Long payloads: cut into rows by hand, put together packet by packet, without a network.
#include "core/messages/fragments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <new>
#include <vector>

#include "support/random.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core {
namespace fragments_test {

using Bytes = std::vector<std::byte>;
using Outcome = Assembler::Outcome;

constexpr std::size_t piece = impl::packet_payload_bytes;
constexpr Priority both[] = {Priority::low, Priority::high};

Bytes random_bytes(std::size_t n, std::uint64_t seed) {
  test::Random random(seed);
  Bytes bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

impl::OutMessage message_of(const Bytes& payload, NodeId to = 1, Priority priority = Priority::low) {
  impl::OutMessage message;
  message.to = to;
  message.origin = 5;
  message.priority = priority;
  message.handler = 77;
  message.words = 2;
  message.word[0] = 11;
  message.word[1] = 22;
  message.payload = Payload(payload);
  return message;
}

Transport::View view_of(const test::Image& image, NodeId source, Priority priority = Priority::low) {
  return {&image.packet, image.packet.head(), source, priority};
}

/// The row that a payload is cut into when there is room for all of it.
std::vector<test::FakeTransport::Sent> row_of(const Bytes& payload) {
  test::FakeTransport network;
  Row row(message_of(payload));
  EXPECT_EQ(row.push(network), Status::ok);
  return std::move(network.sent);
}

bool is(const test::FakeTransport::Sent& sent, std::uint16_t flag) {
  return (sent.image->packet.head().flags() & flag) != 0;
}

/// Gives a packet to the assembler as take_unusual does; a whole payload at the last one.
Outcome deliver(Assembler& assembler, const test::Image& image, NodeId source, Priority priority,
                Payload& whole, bool counts = true) {
  const Transport::View view = view_of(image, source, priority);
  const Payload part(image.packet.payload(view.head.words(), view.head.place()), image.packet.payload_bytes);
  if ((view.head.flags() & impl::flag::more) != 0)
    return assembler.add(view, image.packet.words[0], part, counts);
  Payload payload = part;
  const Outcome outcome = assembler.complete(view, payload);
  if (outcome == Outcome::taken) whole = payload;
  return outcome;
}

TEST(Row, PutTogetherIsWhatWasCutAtEveryBoundary) {
  std::vector<std::size_t> sizes;
  for (const std::size_t pieces : {1, 2, 3, 16, 1024}) {
    for (const int off : {-65, -64, -63, -1, 0, 1, 63, 64, 65}) {
      const std::size_t size = pieces * piece + static_cast<std::size_t>(off);
      if (size > piece) sizes.push_back(size);
    }
  }
  for (const std::size_t size : sizes) {
    const Bytes payload = random_bytes(size, size);
    const auto row = row_of(payload);
    ASSERT_EQ(row.size(), (size + piece - 1) / piece) << size;
    Assembler assembler;
    Payload whole;
    for (const auto& packet : row) {
      ASSERT_EQ(deliver(assembler, *packet.image, 3, Priority::low, whole), Outcome::taken) << size;
      ASSERT_EQ(whole.empty(), &packet != &row.back()) << size;
    }
    ASSERT_EQ(whole.size(), size);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), whole.data())) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(whole.data()) % impl::line_bytes, 0u)
        << "payloads begin aligned";
  }
}

TEST(Row, FullPiecesFirstHandlerAndWordsInTheLast) {
  const auto row = row_of(random_bytes(2 * piece + 5, 1));
  ASSERT_EQ(row.size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(is(row[i], impl::flag::more));
    EXPECT_FALSE(is(row[i], impl::flag::last));
    EXPECT_EQ(row[i].image->packet.payload_bytes, piece);
    EXPECT_EQ(row[i].image->packet.words[0], 2 * piece + 5);
  }
  const impl::Packet& last = row[2].image->packet;
  EXPECT_TRUE(is(row[2], impl::flag::last));
  EXPECT_FALSE(is(row[2], impl::flag::more));
  EXPECT_EQ(last.payload_bytes, 5u);
  EXPECT_EQ(last.head().lines(), 1u) << "five bytes fit beside two words";
  EXPECT_EQ(last.head().handler(), 77);
  EXPECT_EQ(last.head().words(), 2u);
  EXPECT_EQ(last.words[0], 11u);
  EXPECT_EQ(last.words[1], 22u);
  EXPECT_EQ(last.origin, 5u);
}

TEST(Row, KeepsTheFlagsOfItsMessage) {
  const Bytes payload = random_bytes(piece + 1, 1);
  impl::OutMessage message = message_of(payload);
  message.flags = impl::flag::multicast;
  test::FakeTransport network;
  ASSERT_EQ(Row(message).push(network), Status::ok);
  EXPECT_TRUE(is(network.sent.back(), impl::flag::multicast));
  EXPECT_FALSE(is(network.sent.front(), impl::flag::multicast)) << "only the whole message is passed on";
}

TEST(Row, GoesOnWhereTheNetworkWasFull) {
  const std::size_t size = 10 * piece + 3;
  const Bytes payload = random_bytes(size, 9);
  test::FakeTransport network;
  std::size_t& room = network.room[{1, Priority::low}];
  Row row(message_of(payload));
  EXPECT_EQ(row.push(network), Status::again);
  EXPECT_EQ(row.sent(), 0u);
  for (std::size_t sent = 0; sent < 11; ++sent) {
    room = 1;
    EXPECT_EQ(row.push(network), sent < 10 ? Status::again : Status::ok);
    EXPECT_EQ(row.status(), sent < 10 ? Status::again : Status::ok);
    EXPECT_EQ(row.sent(), std::min(sent + 1, std::size_t{10}) * piece);
  }
  Assembler assembler;
  Payload whole;
  for (const auto& packet : network.sent)
    ASSERT_EQ(deliver(assembler, *packet.image, 3, Priority::low, whole), Outcome::taken);
  EXPECT_TRUE(std::ranges::equal(payload, whole.bytes()));
}

TEST(Row, EndsWhenThePeerIsGone) {
  const Bytes payload = random_bytes(10 * piece, 9);
  test::FakeTransport network;
  network.room[{1, Priority::low}] = 3;
  Row row(message_of(payload));
  EXPECT_EQ(row.push(network), Status::again);
  network.close(1);
  EXPECT_EQ(row.push(network), Status::unreachable);
}

/// The rows of one node, and which links they have left free.
class OutgoingRows : public testing::Test {
 protected:
  /// One round with room for so many packets. Whether something moved.
  bool push(std::size_t room) {
    network_.room[link_] = room;
    return outgoing_.push(network_,
                          [this](NodeId to, Priority priority) { freed_.emplace_back(to, priority); });
  }
  [[nodiscard]] bool busy() const { return outgoing_.busy(link_.first, link_.second); }
  /// Whether the receiver gets the payload whole.
  [[nodiscard]] bool arrives() const {
    Assembler assembler;
    Payload whole;
    for (const auto& packet : network_.sent) {
      if (deliver(assembler, *packet.image, 3, link_.second, whole) != Outcome::taken) return false;
    }
    return std::ranges::equal(payload_, whole.bytes());
  }

  const test::FakeTransport::Link link_{1, Priority::high};
  const Bytes payload_ = random_bytes(5 * piece, 4);
  test::FakeTransport network_;
  Outgoing outgoing_;
  std::vector<test::FakeTransport::Link> freed_;
};

TEST_F(OutgoingRows, OfAWaitingSenderAreSentOnByWhoeverPolls) {
  Row row(message_of(payload_, 1, Priority::high));
  outgoing_.lend(row);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(row.status(), Status::again);
    EXPECT_TRUE(busy());
    EXPECT_FALSE(push(0));
    EXPECT_TRUE(push(1));
  }
  EXPECT_EQ(row.status(), Status::ok);
  EXPECT_FALSE(busy());
  EXPECT_TRUE(outgoing_.empty());
  EXPECT_EQ(freed_, std::vector{link_});
  EXPECT_TRUE(arrives());
}

TEST_F(OutgoingRows, OfASenderThatDoesNotWaitAreCutFromACopy) {
  auto copy = am::core::try_event_bytes(*std::pmr::get_default_resource(), payload_.size());
  std::memcpy(copy.get(), payload_.data(), payload_.size());
  {
    Bytes gone = payload_;
    Row row(message_of(gone, 1, Priority::high));
    network_.room[link_] = 2;
    ASSERT_EQ(row.push(network_), Status::again);
    outgoing_.keep(std::move(copy), row);
    std::ranges::fill(gone, std::byte{0xdd});
  }
  EXPECT_TRUE(busy());
  EXPECT_TRUE(push(2));
  EXPECT_TRUE(busy());
  EXPECT_TRUE(push(2));
  EXPECT_FALSE(busy());
  EXPECT_TRUE(arrives());
}

TEST_F(OutgoingRows, ADraftHoldsItsLinkAndNothingElse) {
  outgoing_.begin(1, Priority::high);
  EXPECT_TRUE(busy());
  EXPECT_FALSE(outgoing_.busy(1, Priority::low));
  EXPECT_FALSE(outgoing_.busy(2, Priority::high));
  EXPECT_FALSE(push(5));
  outgoing_.end(1, Priority::high);
  EXPECT_FALSE(busy());
}

TEST_F(OutgoingRows, APeerThatIsGoneFreesTheLink) {
  Row row(message_of(payload_, 1, Priority::high));
  outgoing_.lend(row);
  network_.close(1);
  EXPECT_TRUE(push(0)) << "something has happened";
  EXPECT_EQ(row.status(), Status::unreachable);
  EXPECT_EQ(freed_, std::vector{link_});
  EXPECT_TRUE(outgoing_.empty());
}

TEST(Assembler, RowsOfDifferentLinksMayMixInAnyWay) {
  test::Random random(test::seed());
  struct Flow {
    NodeId source;
    Priority priority;
    std::vector<Bytes> payloads{};
    std::vector<std::vector<test::FakeTransport::Sent>> rows{};
    std::size_t row = 0, packet = 0;
  };
  std::vector<Flow> flows;
  for (const NodeId source : {0u, 1u, 700u}) {
    for (const Priority priority : both) {
      Flow flow{source, priority};
      for (int i = 0; i < 20; ++i) {
        flow.payloads.push_back(random_bytes(piece + 1 + random.below(5 * piece), random()));
        flow.rows.push_back(row_of(flow.payloads.back()));
      }
      flows.push_back(std::move(flow));
    }
  }
  Assembler assembler;
  for (std::size_t done = 0; done < flows.size();) {
    Flow& flow = flows[random.below(flows.size())];
    if (flow.row == flow.rows.size()) continue;
    const auto& row = flow.rows[flow.row];
    const test::Image& image = *row[flow.packet].image;
    Payload whole;
    ASSERT_EQ(deliver(assembler, image, flow.source, flow.priority, whole), Outcome::taken);
    if (++flow.packet < row.size()) continue;
    ASSERT_TRUE(std::ranges::equal(flow.payloads[flow.row], whole.bytes()));
    assembler.done(view_of(image, flow.source, flow.priority));
    flow.packet = 0;
    if (++flow.row == flow.rows.size()) ++done;
  }
}

TEST(Assembler, ALastPacketThatWasDeferredComesTwice) {
  const Bytes payload = random_bytes(piece + 7, 1);
  const auto row = row_of(payload);
  Assembler assembler;
  Payload whole;
  ASSERT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::taken);
  for (int time = 0; time < 3; ++time) {
    ASSERT_EQ(deliver(assembler, *row[1].image, 1, Priority::low, whole), Outcome::taken);
    EXPECT_TRUE(std::ranges::equal(payload, whole.bytes()));
  }
}

/// Rows from several neighbours to a receiver with room for 10 pieces.
class Budget : public testing::Test {
 protected:
  struct Flow {
    NodeId source;
    Priority priority;
    std::vector<test::FakeTransport::Sent> row;
    std::size_t next = 0;
  };
  Flow flow(NodeId source, std::size_t pieces, Priority priority = Priority::low) {
    return {source, priority, row_of(random_bytes(pieces * piece, source))};
  }
  Outcome step(Flow& flow, bool counts = true) {
    Payload whole;
    const Outcome outcome =
        deliver(assembler_, *flow.row[flow.next].image, flow.source, flow.priority, whole, counts);
    if (outcome == Outcome::taken && ++flow.next == flow.row.size())
      assembler_.done(view_of(*flow.row.back().image, flow.source, flow.priority));
    return outcome;
  }

  Assembler assembler_{std::pmr::get_default_resource(), 10 * piece};
};

TEST_F(Budget, KeepsTheNextRowWaitingUntilAnotherEnds) {
  Flow a = flow(1, 6);
  Flow b = flow(2, 5);
  Flow c = flow(3, 4);
  ASSERT_EQ(step(a), Outcome::taken);
  EXPECT_EQ(step(b), Outcome::later);
  EXPECT_EQ(step(b), Outcome::later) << "asked again, nothing was taken of it";
  EXPECT_EQ(step(c), Outcome::taken) << "6 and 4";
  while (a.next < a.row.size()) ASSERT_EQ(step(a), Outcome::taken);
  while (b.next < b.row.size()) ASSERT_EQ(step(b), Outcome::taken);
  while (c.next < c.row.size()) ASSERT_EQ(step(c), Outcome::taken);
}

TEST_F(Budget, AlwaysHasRoomForOne) {
  Flow a = flow(1, 50);
  Flow b = flow(2, 2);
  ASSERT_EQ(step(a), Outcome::taken) << "more than all of it";
  EXPECT_EQ(step(b), Outcome::later);
  while (a.next < a.row.size()) ASSERT_EQ(step(a), Outcome::taken);
  EXPECT_EQ(step(b), Outcome::taken);
}

TEST_F(Budget, OfLowIsNotThatOfHigh) {
  Flow low = flow(1, 50);
  Flow high = flow(1, 50, Priority::high);
  ASSERT_EQ(step(low), Outcome::taken);
  EXPECT_EQ(step(high), Outcome::taken);
}

TEST_F(Budget, IsNotHeldByTheDead) {
  Flow a = flow(1, 10);
  Flow b = flow(2, 10);
  ASSERT_EQ(step(a), Outcome::taken);
  ASSERT_EQ(step(b), Outcome::later);
  assembler_.lose(1);
  assembler_.lose(1);
  ASSERT_EQ(step(b), Outcome::taken);
  while (a.next < a.row.size()) ASSERT_EQ(step(a), Outcome::taken) << "what it had sent may still come";
  Flow c = flow(3, 1);
  c.row = row_of(random_bytes(2 * piece, 3));
  EXPECT_EQ(step(c), Outcome::later) << "and gives back nothing twice";
}

TEST_F(Budget, IsNotAskedForARowOfTheDead) {
  Flow a = flow(1, 10);
  Flow b = flow(2, 10);
  Flow c = flow(3, 10);
  ASSERT_EQ(step(b), Outcome::taken);
  ASSERT_EQ(step(a), Outcome::later);
  assembler_.lose(1);
  EXPECT_EQ(step(a, false), Outcome::taken) << "its first piece comes when it is known to be dead";
  while (b.next < b.row.size()) ASSERT_EQ(step(b), Outcome::taken);
  EXPECT_EQ(step(c), Outcome::taken) << "what never ends keeps nobody waiting";
}

/// Memory that runs out when a test says so.
class Scarce final : public std::pmr::memory_resource {
 public:
  bool gone = false;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (gone) throw std::bad_alloc();
    return std::pmr::get_default_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    std::pmr::get_default_resource()->deallocate(p, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST_F(Budget, MemoryThatThereIsNotIsAskedForAgain) {
  Scarce memory;
  Assembler assembler(&memory);
  const Bytes payload = random_bytes(2 * piece, 1);
  const auto row = row_of(payload);
  Payload whole;
  memory.gone = true;
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::no_memory);
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::no_memory);
  memory.gone = false;
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::taken);
  EXPECT_EQ(deliver(assembler, *row[1].image, 1, Priority::low, whole), Outcome::taken);
  EXPECT_TRUE(std::ranges::equal(payload, whole.bytes()));
}

/// A row of two packets that a test may spoil.
class SpoiltRow : public testing::Test {
 protected:
  Outcome first() { return deliver(assembler_, *row_[0].image, 1, Priority::low, whole_); }
  Outcome last() { return deliver(assembler_, *row_[1].image, 1, Priority::low, whole_); }
  impl::Packet& first_packet() { return row_[0].image->packet; }
  impl::Packet& last_packet() { return row_[1].image->packet; }

  std::vector<test::FakeTransport::Sent> row_ = row_of(random_bytes(piece + 100, 1));
  Assembler assembler_;
  Payload whole_;
};

TEST_F(SpoiltRow, ALastPieceWithoutAFirst) { EXPECT_EQ(last(), Outcome::malformed); }

TEST_F(SpoiltRow, MorePiecesThanTheTotal) {
  ASSERT_EQ(first(), Outcome::taken);
  EXPECT_EQ(first(), Outcome::malformed);
}

TEST_F(SpoiltRow, FewerBytesThanTheTotal) {
  ASSERT_EQ(first(), Outcome::taken);
  last_packet().payload_bytes = 99;
  EXPECT_EQ(last(), Outcome::malformed);
}

TEST_F(SpoiltRow, MoreBytesThanTheTotalInTheLastPiece) {
  ASSERT_EQ(first(), Outcome::taken);
  last_packet().payload_bytes = 101;
  EXPECT_EQ(last(), Outcome::malformed);
}

TEST_F(SpoiltRow, AnotherTotalInTheMiddle) {
  first_packet().words[0] = 10 * piece;
  ASSERT_EQ(first(), Outcome::taken);
  first_packet().words[0] = 10 * piece + 1;
  EXPECT_EQ(first(), Outcome::malformed);
}

TEST_F(SpoiltRow, ATotalSmallerThanItsFirstPiece) {
  first_packet().words[0] = 3;
  EXPECT_EQ(first(), Outcome::malformed);
}

TEST_F(SpoiltRow, ATotalOfNothing) {
  first_packet().words[0] = 0;
  EXPECT_EQ(first(), Outcome::malformed);
}

#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // their allocators end the process instead
TEST_F(SpoiltRow, ATotalLargerThanAnyMemory) {
  for (const std::uint64_t total : {std::uint64_t{1} << 60, UINT64_MAX, UINT64_MAX - 63}) {
    first_packet().words[0] = total;
    EXPECT_EQ(first(), Outcome::no_memory) << total;
  }
}
#endif

TEST_F(SpoiltRow, OfAnotherLinkSpoilsNothingHere) {
  ASSERT_EQ(first(), Outcome::taken);
  Payload other;
  EXPECT_EQ(deliver(assembler_, *row_[1].image, 2, Priority::low, other), Outcome::malformed);
  EXPECT_EQ(deliver(assembler_, *row_[1].image, 1, Priority::high, other), Outcome::malformed);
  EXPECT_EQ(last(), Outcome::taken);
  EXPECT_EQ(whole_.size(), piece + 100);
}

}  // namespace fragments_test
}  // namespace am::core
