// Long payloads: cut into rows by hand, put together packet by packet, without a network.
#include "core/messages/fragments.hpp"

#include "support/patterns.hpp"
#include "unit/core/messages/played_node.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core::fragments_test {

using Bytes = std::vector<std::byte>;
using Outcome = Assembler::Outcome;

constexpr std::size_t piece = impl::packet_payload_bytes;

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

/// Gives a packet to the assembler as take_unusual does; a whole payload at the last one.
Outcome deliver(Assembler& assembler, const test::Image& image, NodeId source, Priority priority,
                Payload& whole, bool counts = true) {
  const Transport::View view = view_of(image, source, priority);
  const Payload part = test_messages::payload_of(image.packet);
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
    const Bytes payload = test::patterned(size, size);
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
  const Bytes payload_ = test::patterned(5 * piece, 4);
  test::FakeTransport network_;
  Outgoing outgoing_;
  std::vector<test::FakeTransport::Link> freed_;
};

TEST_F(OutgoingRows, OfAWaitingSenderAreSentOnByWhoeverPolls) {
  Row row(message_of(payload_, 1, Priority::high));
  outgoing_.lend(row);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(row.status(), Status::again);
    EXPECT_EQ(row.sent(), i * piece);
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

TEST_F(OutgoingRows, APeerThatIsGoneFreesTheLink) {
  Row row(message_of(payload_, 1, Priority::high));
  outgoing_.lend(row);
  network_.close(1);
  EXPECT_TRUE(push(0)) << "something has happened";
  EXPECT_EQ(row.status(), Status::unreachable);
  EXPECT_EQ(freed_, std::vector{link_});
  EXPECT_TRUE(outgoing_.empty());
}

TEST(Assembler, ALastPacketThatWasDeferredComesTwice) {
  const Bytes payload = test::patterned(piece + 7, 1);
  const auto row = row_of(payload);
  Assembler assembler;
  Payload whole;
  ASSERT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::taken);
  for (int time = 0; time < 3; ++time) {
    ASSERT_EQ(deliver(assembler, *row[1].image, 1, Priority::low, whole), Outcome::taken);
    EXPECT_TRUE(std::ranges::equal(payload, whole.bytes()));
  }
}

/// Rows from several neighbours.
class Flows : public testing::Test {
 protected:
  explicit Flows(std::size_t budget = Assembler::budget_bytes)
      : assembler_(std::pmr::get_default_resource(), budget) {}

  struct Flow {
    NodeId source;
    Priority priority;
    Bytes payload;
    std::vector<test::FakeTransport::Sent> row;
    std::size_t next = 0;
    [[nodiscard]] bool is_over() const { return next == row.size(); }
  };
  static Flow flow(NodeId source, std::size_t bytes, Priority priority = Priority::low) {
    Bytes payload = test::patterned(bytes, source);
    auto row = row_of(payload);
    return {source, priority, std::move(payload), std::move(row)};
  }
  /// Gives its next packet. What has come whole is what was sent.
  Outcome step(Flow& flow, bool counts = true) {
    Payload whole;
    const test::Image& image = *flow.row[flow.next].image;
    const Outcome outcome = deliver(assembler_, image, flow.source, flow.priority, whole, counts);
    if (outcome != Outcome::taken || ++flow.next < flow.row.size()) return outcome;
    EXPECT_TRUE(std::ranges::equal(flow.payload, whole.bytes()));
    assembler_.done(view_of(image, flow.source, flow.priority));
    return outcome;
  }
  void finish(Flow& flow) {
    while (!flow.is_over()) ASSERT_EQ(step(flow), Outcome::taken);
  }

  Assembler assembler_;
};

TEST_F(Flows, OfDifferentLinksMayMixInAnyWay) {
  test::Random random(test::seed());
  const auto bytes = [&] { return piece + 1 + random.below(5 * piece); };
  std::vector<Flow> flows;
  for (const NodeId source : {0u, 1u, 700u}) {
    for (const Priority priority : {Priority::low, Priority::high})
      flows.push_back(flow(source, bytes(), priority));
  }
  for (int packets = 0; packets < 500; ++packets) {
    Flow& one = flows[random.below(flows.size())];
    ASSERT_EQ(step(one), Outcome::taken);
    if (one.is_over()) one = flow(one.source, bytes(), one.priority);
  }
}

/// With room for 10 pieces.
struct Budget : Flows {
  Budget() : Flows(10 * piece) {}
  static Flow flow(NodeId source, std::size_t pieces, Priority priority = Priority::low) {
    return Flows::flow(source, pieces * piece, priority);
  }
};

TEST_F(Budget, KeepsTheNextRowWaitingUntilAnotherEnds) {
  Flow a = flow(1, 6);
  Flow b = flow(2, 5);
  Flow c = flow(3, 4);
  ASSERT_EQ(step(a), Outcome::taken);
  EXPECT_EQ(step(b), Outcome::later);
  EXPECT_EQ(step(b), Outcome::later) << "asked again, nothing was taken of it";
  EXPECT_EQ(step(c), Outcome::taken) << "6 and 4";
  finish(a);
  finish(b);
  finish(c);
}

TEST_F(Budget, AlwaysHasRoomForOne) {
  Flow a = flow(1, 50);
  Flow b = flow(2, 2);
  Flow high = flow(1, 50, Priority::high);
  ASSERT_EQ(step(a), Outcome::taken) << "more than all of it";
  EXPECT_EQ(step(b), Outcome::later);
  EXPECT_EQ(step(high), Outcome::taken) << "which has a budget of its own";
  finish(a);
  EXPECT_EQ(step(b), Outcome::taken);
}

TEST_F(Budget, IsNotHeldByTheDead) {
  Flow a = flow(1, 10);
  Flow b = flow(2, 10);
  ASSERT_EQ(step(a), Outcome::taken);
  ASSERT_EQ(step(b), Outcome::later);
  assembler_.lose(1);
  assembler_.lose(1);
  ASSERT_EQ(step(b), Outcome::taken);
  finish(a);  // what it had sent may still come
  Flow c = flow(3, 2);
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
  finish(b);
  EXPECT_EQ(step(c), Outcome::taken) << "what never ends keeps nobody waiting";
}

TEST(Assembler, MemoryThatThereIsNotIsAskedForAgain) {
  test_messages::Scarce memory;
  Assembler assembler(&memory);
  const Bytes payload = test::patterned(2 * piece, 1);
  const auto row = row_of(payload);
  Payload whole;
  memory.largest = 0;
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::no_memory);
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::no_memory);
  memory.largest = ~std::size_t{0};
  EXPECT_EQ(deliver(assembler, *row[0].image, 1, Priority::low, whole), Outcome::taken);
  EXPECT_EQ(deliver(assembler, *row[1].image, 1, Priority::low, whole), Outcome::taken);
  EXPECT_TRUE(std::ranges::equal(payload, whole.bytes()));
}

/// A row of two packets that a test may spoil.
struct TwoPackets {
  Outcome first(std::uint64_t total = piece + 100) {
    row_[0].image->packet.words[0] = total;
    return deliver(assembler, *row_[0].image, 1, Priority::low, whole);
  }
  Outcome last(std::uint32_t payload_bytes = 100, NodeId source = 1, Priority priority = Priority::low) {
    row_[1].image->packet.payload_bytes = payload_bytes;
    return deliver(assembler, *row_[1].image, source, priority, whole);
  }

  Assembler assembler{};
  Payload whole{};

 private:
  std::vector<test::FakeTransport::Sent> row_ = row_of(test::patterned(piece + 100, 1));
};

TEST(SpoiltRow, IsRefused) {
  EXPECT_EQ(TwoPackets().last(), Outcome::malformed) << "without its first piece";
  for (const std::uint64_t total : {0, 3}) EXPECT_EQ(TwoPackets().first(total), Outcome::malformed) << total;
  for (const std::uint32_t bytes : {99, 101}) {
    TwoPackets row;
    ASSERT_EQ(row.first(), Outcome::taken);
    EXPECT_EQ(row.last(bytes), Outcome::malformed) << bytes << " in the last piece";
  }
  // A second piece that makes it too long, or says another total.
  using Totals = std::pair<std::uint64_t, std::uint64_t>;
  for (const auto& [total, then] : {Totals{piece + 100, piece + 100}, {10 * piece, 10 * piece + 1}}) {
    TwoPackets row;
    ASSERT_EQ(row.first(total), Outcome::taken);
    EXPECT_EQ(row.first(then), Outcome::malformed) << total;
  }
}

TEST(SpoiltRow, OfAnotherLinkSpoilsNothingHere) {
  TwoPackets row;
  ASSERT_EQ(row.first(), Outcome::taken);
  EXPECT_EQ(row.last(100, 2), Outcome::malformed);
  EXPECT_EQ(row.last(100, 1, Priority::high), Outcome::malformed);
  EXPECT_EQ(row.last(), Outcome::taken);
  EXPECT_EQ(row.whole.size(), piece + 100);
}

}  // namespace am::core::fragments_test
