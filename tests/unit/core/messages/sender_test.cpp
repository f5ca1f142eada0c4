// What a node sends without waiting: at once, as a row of pieces, by a draft, or not yet. No node runs here.
#include "core/messages/sender.hpp"

#include "support/patterns.hpp"
#include "unit/core/messages/played_node.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core::sender_test {

using Bytes = std::vector<std::byte>;

constexpr NodeId nodes = 3;

class SenderTest : public testing::Test, protected test_messages::SendingNode<test::FakeTransport> {
 protected:
  SenderTest() : SendingNode(0, host::Memory::create(nodes)) {
    ring_to_1().connect(lines_.data(), static_cast<std::uint32_t>(lines_.size()), &control_);
  }

  static impl::OutMessage message(const Bytes& payload, NodeId to = 1, Priority priority = Priority::low) {
    impl::OutMessage message;
    message.to = to;
    message.priority = priority;
    message.handler = 5;
    message.payload = Payload(payload);
    return message;
  }
  std::size_t& room() { return network_.room[{1, Priority::low}]; }
  impl::Producer& ring_to_1() { return rings_[2]; }
  const impl::Traffic& to_1() { return traffic_[2]; }
  /// The payload that the pieces sent so far make up.
  Bytes sent_bytes() const {
    Bytes all;
    for (const auto& [to, priority, image] : network_.sent) {
      const Payload piece = test_messages::payload_of(image->packet);
      all.insert(all.end(), piece.bytes().begin(), piece.bytes().end());
    }
    return all;
  }

  std::array<impl::Packet, 8> lines_{};
  impl::RingControl control_{};
};

TEST_F(SenderTest, RemembersWhatWasRefusedUntilThereIsRoom) {
  room() = 0;
  EXPECT_EQ(sender_.try_send(message(Bytes(10))), Status::again);
  EXPECT_FALSE(events_.nicond);
  EXPECT_EQ(to_1().again, 1u);
  EXPECT_EQ(wanted_, 1);
  EXPECT_FALSE(sender_.available(Priority::low));
  EXPECT_TRUE(sender_.available(Priority::high));
  room() = 1;
  EXPECT_TRUE(sender_.available(Priority::low));
}

TEST_F(SenderTest, ADraftHoldsItsLinkAlone) {
  const Transport::Slot slot = sender_.claim(message({}), 100);
  ASSERT_EQ(slot.status, Status::ok);
  sender_.hold(slot);
  EXPECT_EQ(ring_to_1().claim_line(), nullptr) << "the inline path would slip in";
  EXPECT_EQ(sender_.try_send(message(Bytes(1))), Status::again);
  EXPECT_EQ(sender_.claim(message({}), 1).status, Status::again);
  EXPECT_FALSE(sender_.available(Priority::low)) << "though the network has room";
  EXPECT_EQ(sender_.try_send(message(Bytes(1), 1, Priority::high)), Status::ok);
  EXPECT_EQ(sender_.try_send(message(Bytes(1), 2)), Status::ok);
  EXPECT_FALSE(sender_.has_rows());

  wanted_ = 0;
  sender_.commit(slot, message(Bytes(100)));
  sender_.drop(slot);
  EXPECT_EQ(wanted_, 1) << "who was refused behind the draft";
  EXPECT_TRUE(sender_.available(Priority::low));
  EXPECT_NE(ring_to_1().claim_unless_reserved(1), nullptr);
}

TEST_F(SenderTest, AsksForAnUnorderedPlaceWherePayloadsFitIntoAPacket) {
  const auto unordered = [](const Bytes& payload) {
    impl::OutMessage one = message(payload);
    one.unordered = true;
    return one;
  };
  const auto claims = [this] { return network_.unordered_claims[{1, Priority::low}]; };
  EXPECT_EQ(sender_.try_send(message(Bytes(10))), Status::ok);
  EXPECT_EQ(claims(), 0u);
  EXPECT_EQ(sender_.try_send(unordered(Bytes())), Status::ok);
  EXPECT_EQ(sender_.try_send(unordered(Bytes(impl::packet_payload_bytes))), Status::ok);
  EXPECT_EQ(claims(), 2u);
  EXPECT_EQ(sender_.try_send(unordered(Bytes(impl::packet_payload_bytes + 1))), Status::ok);
  EXPECT_EQ(claims(), 2u) << "in order";
  EXPECT_EQ(to_1().sent_messages, 4u);

  network_.unordered_full = true;
  EXPECT_EQ(sender_.try_send(unordered(Bytes(10))), Status::again);
  EXPECT_EQ(to_1().again, 1u);
  EXPECT_FALSE(sender_.available(Priority::low)) << "though there is room for others";
  network_.unordered_full = false;
  EXPECT_TRUE(sender_.available(Priority::low));
}

TEST_F(SenderTest, KeepsACopyOfWhatGoesInPieces) {
  Bytes bytes = test::patterned(5000, 1);
  const Bytes meant = bytes;
  room() = 2;
  EXPECT_EQ(sender_.try_send(message(bytes)), Status::ok);
  std::ranges::fill(bytes, std::byte{0});
  EXPECT_EQ(rows_, 1);
  EXPECT_TRUE(sender_.has_rows());
  EXPECT_EQ(sender_.try_send(message(Bytes(1))), Status::again) << "nothing goes in between";
  EXPECT_FALSE(sender_.push()) << "there is no room";
  room() = 100;
  EXPECT_TRUE(sender_.push());
  EXPECT_TRUE(sender_.idle());
  EXPECT_EQ(sent_bytes(), meant);
  EXPECT_EQ(to_1().sent_messages, 1u);
  EXPECT_NE(ring_to_1().claim_unless_reserved(1), nullptr);
}

TEST_F(SenderTest, BeginsNoRowWithoutRoomForItsFirstPiece) {
  room() = 0;
  EXPECT_EQ(sender_.try_send(message(Bytes(5000))), Status::again);
  EXPECT_TRUE(sender_.idle());
  EXPECT_EQ(rows_, 0);
}

TEST_F(SenderTest, TakesOverARowThatHasBegun) {
  Bytes bytes = test::patterned(3000, 1);
  const Bytes meant = bytes;
  Row row(message(bytes));
  sender_.begin_row(row);
  room() = 1;
  EXPECT_TRUE(sender_.push());
  EXPECT_EQ(ring_to_1().claim_line(), nullptr);
  sender_.hand_over(row);
  std::ranges::fill(bytes, std::byte{0});
  room() = 100;
  EXPECT_TRUE(sender_.push());
  EXPECT_TRUE(sender_.idle());
  EXPECT_EQ(sent_bytes(), meant);
  EXPECT_EQ(to_1().sent_messages, 1u);
}

TEST_F(SenderTest, ForgetsARowThatHasNotBegun) {
  const Bytes bytes(3000);
  Row row(message(bytes));
  sender_.begin_row(row);
  room() = 0;
  EXPECT_FALSE(sender_.push());
  sender_.hand_over(row);
  EXPECT_TRUE(sender_.idle());
  EXPECT_EQ(to_1().sent_messages, 0u);
  EXPECT_NE(ring_to_1().claim_unless_reserved(1), nullptr);
}

TEST_F(SenderTest, RefusesWhatItHasNoMemoryToKeep) {
  rows_memory_.largest = 0;
  EXPECT_EQ(sender_.try_send(message(Bytes(5000))), Status::again);
  EXPECT_EQ(sender_.try_send(message(Bytes(1000))), Status::ok);
}

}  // namespace am::core::sender_test
