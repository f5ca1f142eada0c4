// A multicast on its way out over a network that has multicasts of its own: who gets which packet, how often the network is asked to
// multicast, that it goes to all or to nobody, that the dead are struck off, and what becomes of long ones. The network is played, and
// shares out as a T1 does.
#include "core/messages/multicast_sender.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/t1/router.hpp"
#include "transports/emulated/patches.hpp"
#include "unit/core/messages/played_node.hpp"
#include "unit/transports/fake_transport.hpp"

namespace am::core::multicast_sender_test {

using namespace testing;

using Ids = std::vector<NodeId>;
constexpr NodeId rows = 4, columns = 8, nodes = rows * columns, self = 9;

/// A grid whose rows wrap.
class FakeGrid : public test::FakeTransport, public Multicaster {
 public:
  std::vector<std::pair<std::size_t, std::size_t>> multicasts;  ///< of `sent`, from and to
  bool open = false;

  [[nodiscard]] Multicaster* multicaster(NodeId, std::span<const NodeId>) noexcept override { return this; }
  void share_out(NodeId from, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) const noexcept override {
    emulated::share_out(t1::grid_of({.rows = rows, .columns = columns}), from, members, by);
  }
  void begin_multicast() noexcept override {
    if (std::exchange(open, true)) std::abort();
    began_ = sent.size();
  }
  void end_multicast() noexcept override {
    if (!std::exchange(open, false)) std::abort();
    if (sent.size() != began_) multicasts.emplace_back(began_, sent.size());
  }

 private:
  std::size_t began_ = 0;
};

/// One packet that was sent.
struct Copy {
  NodeId to = 0;
  Ids list{};
  bool by_network = false;
  bool operator==(const Copy&) const = default;
};
void PrintTo(const Copy& copy, std::ostream* out) {
  *out << copy.to << (copy.by_network ? " by the network" : "") << " with "
       << testing::PrintToString(copy.list);
}

class MulticastSenderTest : public testing::Test, protected test_messages::SendingNode<FakeGrid> {
 protected:
  MulticastSenderTest() : SendingNode(self, host::Memory::create(nodes)) {}

  Status send(Ids members, std::size_t payload_bytes = 3, SharedBytes* under_way = nullptr) {
    payload_.assign(payload_bytes, std::byte{5});
    const Status status = multicasts_.try_send(
        {.origin = 2, .priority = Priority::low, .handler = 7, .words = 1, .word = {42}, .payload = payload_},
        members, under_way);
    EXPECT_FALSE(network_.open);
    return status;
  }
  /// What was sent, whole; and forgets it.
  std::vector<Copy> copies() {
    std::vector<Copy> all;
    for (std::size_t i = 0; i < network_.sent.size(); ++i) {
      const impl::Packet& packet = network_.sent[i].image->packet;
      const impl::Header head = packet.head();
      EXPECT_TRUE(head.has(impl::flag::multicast));
      EXPECT_FALSE(head.has(impl::flag::more) || head.has(impl::flag::last));
      EXPECT_EQ(head.handler(), 7);
      EXPECT_EQ(packet.origin, 2u);
      EXPECT_EQ(packet.words[0], 42u);
      Payload payload = test_messages::payload_of(packet);
      Copy copy{.to = network_.sent[i].to, .list = test_messages::take_list(payload)};
      EXPECT_EQ(payload.size(), payload_.size());
      for (const auto& [from, to] : network_.multicasts) copy.by_network |= from <= i && i < to;
      all.push_back(copy);
    }
    network_.sent.clear();
    network_.multicasts.clear();
    return all;
  }
  void fill(NodeId node) { network_.room[{node, Priority::low}] = 0; }

  test_messages::Scarce multicasts_memory_;
  MulticastSender multicasts_{self, network_, MulticastSender::parts_by_network, sender_,
                              &multicasts_memory_};
  std::vector<std::byte> payload_;
};

TEST_F(MulticastSenderTest, InAPatchEachHasTheWholeListAndFindsItsShare) {
  const Ids patch{9, 10, 11, 17, 18, 19, 25, 26, 27};
  EXPECT_EQ(send(patch), Status::ok);
  EXPECT_THAT(copies(), ElementsAre(Copy{9, patch, true}, Copy{10, patch, true}, Copy{11, patch, true},
                                    Copy{17, patch, true}, Copy{25, patch, true}));
  const auto share_of = [&](NodeId node) -> std::optional<Ids> {
    MulticastSender at(node, network_, MulticastSender::parts_by_network, sender_,
                       std::pmr::get_default_resource());
    MulticastSender::List list(patch.begin(), patch.end());
    if (!at.keep_share(9, list)) return std::nullopt;
    return Ids(list.begin(), list.end());
  };
  EXPECT_EQ(share_of(9), Ids{});
  EXPECT_EQ(share_of(10), (Ids{18, 26}));
  EXPECT_EQ(share_of(11), (Ids{19, 27}));
  EXPECT_EQ(share_of(17), Ids{});
  EXPECT_EQ(share_of(18), std::nullopt) << "which has it from 10";
  EXPECT_EQ(share_of(12), std::nullopt) << "who is not on it";
}

TEST_F(MulticastSenderTest, WhoIsNotReachedGetsItDownTheTree) {
  EXPECT_EQ(send({10, 20, 22, 24, 28, 31}), Status::ok);
  EXPECT_THAT(copies(), ElementsAre(Copy{10, {}, true}, Copy{20, {22, 24}, false}, Copy{28, {31}, false}));
  EXPECT_EQ(send({30}), Status::ok);
  EXPECT_THAT(copies(), ElementsAre(Copy{30, {}, false}));
}

TEST_F(MulticastSenderTest, GoesToAllOrToNobody) {
  const Ids members{8, 9, 10, 20, 22, 28, 31};
  for (const NodeId full : {8, 9, 10, 20, 28}) {
    network_.room.clear();
    fill(full);
    wanted_ = 0;
    EXPECT_EQ(send(members), Status::again) << full;
    EXPECT_EQ(send(members, 5'000), Status::again) << full;
    EXPECT_EQ(wanted_, 2);
    EXPECT_THAT(network_.sent, IsEmpty());
    EXPECT_FALSE(sender_.has_rows());
    EXPECT_FALSE(events_.nicond);
    EXPECT_FALSE(sender_.available(Priority::low));
  }
  network_.room.clear();
  EXPECT_TRUE(sender_.available(Priority::low));
  fill(31);  // whom another one passes it on to
  EXPECT_EQ(send(members), Status::ok);
}

TEST_F(MulticastSenderTest, WaitsForADraft) {
  const Transport::Slot draft = sender_.claim({.to = 10, .priority = Priority::low}, 0);
  sender_.hold(draft);
  EXPECT_EQ(send({10, 11}), Status::again);
  EXPECT_THAT(network_.sent, IsEmpty());
  sender_.drop(draft);
  EXPECT_EQ(send({10, 11}), Status::ok);
}

TEST_F(MulticastSenderTest, TheDeadAreStruckOffAndNobodyIsCutOff) {
  network_.close(11);
  EXPECT_EQ(send({10, 11, 12, 13}), Status::ok);
  // 13 is reached the other way round no more than 12 is: 8, 15 and 14 are no members.
  EXPECT_THAT(copies(), ElementsAre(Copy{10, {}, true}, Copy{12, {}, false}, Copy{13, {}, false}));
  network_.close(10);  // who would pass it on
  EXPECT_EQ(send({9, 10, 17, 18}), Status::ok);
  EXPECT_THAT(copies(), ElementsAre(Copy{9, {9, 17, 18}, true}, Copy{17, {9, 17, 18}, true}));
  for (const NodeId node : {12, 13}) network_.close(node);
  EXPECT_EQ(send({10, 11, 12, 13}), Status::unreachable);
  EXPECT_THAT(network_.sent, IsEmpty());
}

TEST_F(MulticastSenderTest, ALongOneIsARowOnEachLinkOnItsOwn) {
  network_.room[{10, Priority::low}] = 2;
  network_.room[{20, Priority::low}] = 1;
  SharedBytes under_way;
  constexpr std::size_t bytes = 5 * impl::packet_payload_bytes + 100;
  EXPECT_EQ(send({9, 10, 20}, bytes, &under_way), Status::ok);
  EXPECT_THAT(network_.multicasts, IsEmpty());
  std::array<std::size_t, nodes> pieces{};
  for (const auto& sent : network_.sent) ++pieces[sent.to];
  EXPECT_EQ(pieces[9], 6u);
  EXPECT_EQ(pieces[10], 2u);
  EXPECT_EQ(pieces[20], 1u);
  EXPECT_TRUE(sender_.has_rows());
  EXPECT_EQ(under_way.use_count(), 3) << "this, and two rows";
  EXPECT_LT(multicasts_memory_.given, 3 * bytes)
      << "one copy for those that get the same packet, and one for the tree";
  payload_.assign(payload_.size(), std::byte{0});  // the caller's are not needed any more
  EXPECT_EQ(send({9, 10}), Status::again) << "nothing overtakes it";
  EXPECT_EQ(send({9}), Status::ok) << "where it has gone";
  network_.sent.clear();
  network_.room.clear();
  EXPECT_TRUE(sender_.push());
  EXPECT_FALSE(sender_.has_rows());
  EXPECT_EQ(under_way.use_count(), 1);
  for (const auto& sent : network_.sent) {
    const impl::Packet& packet = sent.image->packet;
    EXPECT_EQ(test_messages::payload_of(packet).bytes().front(), std::byte{5});
    EXPECT_EQ(packet.head().has(impl::flag::multicast), packet.head().has(impl::flag::last));
  }
  under_way.reset();
  EXPECT_LT(multicasts_memory_.given, bytes) << "given back";
}

TEST_F(MulticastSenderTest, OneThatNoMachineHoldsIsTooBig) {
  const std::byte byte{};
  MulticastSender::List members{9, 10};
  const impl::OutMessage message{.payload = Payload(&byte, ~std::size_t{0} - 4)};  // never read
  EXPECT_EQ(multicasts_.try_send(message, members), Status::too_big);
  EXPECT_THAT(network_.sent, IsEmpty());
}

TEST_F(MulticastSenderTest, ALongOneWithoutMemoryGoesToNobody) {
  multicasts_memory_.largest = 10'000;
  EXPECT_EQ(send({9, 10, 20}, 20'000), Status::again);
  EXPECT_THAT(network_.sent, IsEmpty());
  EXPECT_EQ(send({9, 10, 20}, 3), Status::ok);
}

}  // namespace am::core::multicast_sender_test
