// Multicasts between nodes of an emulated T1 network, all in one thread: how many flits each link carries, and that every member gets
// each once and in order, whatever is full and whoever has died, and however slowly nodes take it.
#include <gmock/gmock.h>

#include "core/messages/forwarding.hpp"
#include "core/messages/multicast_sender.hpp"
#include "support/random.hpp"
#include "transports/emulated/t1_transport.hpp"
#include "unit/core/messages/played_node.hpp"

namespace am::core::multicast_over_t1_test {

using namespace testing;

using Ids = std::vector<NodeId>;

/// A multicast, as its handler gets it.
struct Got {
  NodeId from = 0;
  std::uint64_t number = 0;
  bool operator==(const Got&) const = default;
};

/// A node as far as multicasts need one.
class Member final : test_messages::SendingNode<emulated::T1Transport> {
 public:
  Member(NodeId self, const std::shared_ptr<host::Memory>& memory, std::string_view grid)
      : SendingNode(self, memory, Site{.self = self, .memory = memory, .options = grid}),
        multicasts_(self, network_, MulticastSender::parts_by_network, sender_,
                    std::pmr::get_default_resource()),
        forwarding_(self, memory->nodes(), multicasts_, std::pmr::get_default_resource()),
        self_(self) {}

  Status send(const Ids& members, std::uint64_t number, std::size_t payload_bytes, Priority priority) {
    const std::vector<std::byte> payload(payload_bytes, static_cast<std::byte>(number));
    MulticastSender::List list(members.begin(), members.end());
    return multicasts_.try_send(message(number, payload, priority), list);
  }
  Status request(NodeId to, std::uint64_t number, std::size_t payload_bytes, Priority priority) {
    const std::vector<std::byte> payload(payload_bytes, static_cast<std::byte>(number));
    impl::OutMessage request = message(number, payload, priority);
    request.to = to;
    return sender_.try_send(request);
  }
  /// A round of Engine::poll. Takes no more than `most` packets.
  void poll(std::size_t most = 1'000) {
    network_.progress();
    sender_.push();
    for (const Priority priority : {Priority::high, Priority::low}) {
      for (std::size_t n = 0; n < most; ++n) {
        const Transport::View view = network_.receive(priority);
        if (!view) break;
        if (take(view)) {
          network_.release(view);
        } else {
          network_.defer(view);
        }
      }
    }
  }
  [[nodiscard]] bool idle() const { return forwarding_.idle() && !sender_.has_rows() && network_.drained(); }
  void close(NodeId peer) { network_.close(peer); }

  std::vector<Got> got;

 private:
  [[nodiscard]] impl::OutMessage message(std::uint64_t number, Payload payload, Priority priority) const {
    return {.origin = self_,
            .priority = priority,
            .handler = 1,
            .words = 1,
            .word = {number},
            .payload = payload};
  }
  bool take(const Transport::View& view) {
    Payload payload = network_.payload_of(view).value_or(Payload{});
    if (view.head.has(impl::flag::more)) {
      EXPECT_EQ(assembler_.add(view, view.packet->words[0], payload, true), Assembler::Outcome::taken);
      return true;
    }
    if (view.head.has(impl::flag::last)) {
      EXPECT_EQ(assembler_.complete(view, payload), Assembler::Outcome::taken);
    }
    impl::Arrival arrival{.packet = view.packet,
                          .head = view.head,
                          .from = view.packet->origin,
                          .payload = payload,
                          .priority = view.priority};
    if (view.head.has(impl::flag::multicast)) {
      const Forwarding::Outcome outcome = forwarding_.pass_on(view, arrival);
      EXPECT_EQ(outcome.malformed, nullptr) << outcome.malformed;
      if (outcome.deferred) return false;
    }
    const std::uint64_t number = view.packet->words[0];
    EXPECT_TRUE(std::ranges::all_of(arrival.payload.bytes(),
                                    [&](std::byte byte) { return byte == static_cast<std::byte>(number); }));
    got.push_back({arrival.from, number});
    assembler_.done(view);
    return true;
  }

  MulticastSender multicasts_;
  Forwarding forwarding_;
  Assembler assembler_;
  const NodeId self_;
};

class MulticastOverT1 : public testing::Test {
 protected:
  void make(unsigned rows, unsigned columns) {
    members_.clear();
    nodes_ = rows * columns;
    grid_ = std::to_string(rows) + "x" + std::to_string(columns);
    memory_ = host::Memory::create(nodes_);
    for (NodeId node = 0; node < nodes_; ++node)
      members_.push_back(std::make_unique<Member>(node, memory_, grid_));
  }
  Member& at(NodeId node) { return *members_.at(node); }
  void poll_all(std::size_t most = 1'000) {
    for (const auto& member : members_) member->poll(most);
  }
  /// What lies in the routers while all are idle, each 256th round of a node finds there.
  void finish() {
    int idle_rounds = 0;
    for (int round = 0; round < 20'000 && idle_rounds < 600; ++round) {
      poll_all();
      const bool idle = std::ranges::all_of(members_, [](const auto& member) { return member->idle(); });
      idle_rounds = idle ? idle_rounds + 1 : 0;
    }
    EXPECT_GE(idle_rounds, 600);
  }
  /// Who got how many.
  std::map<NodeId, std::size_t> who() {
    std::map<NodeId, std::size_t> all;
    for (NodeId node = 0; node < nodes_; ++node) {
      if (!at(node).got.empty()) all[node] = at(node).got.size();
    }
    return all;
  }
  /// Flits that have come over links since the last call: of each input that has seen any, how many.
  std::vector<std::uint64_t> flits_over_links() {
    const emulated::Windows windows(memory_, t1::LiveMesh::bytes(nodes_), emulated::ordered_lanes);
    std::vector<std::uint64_t> all;
    for (NodeId node = 0; node < nodes_; ++node) {
      const t1::LiveRouter& router = t1::LiveMesh::router_in(windows.routers(), node);
      for (unsigned port = 1; port < t1::ports; ++port) {
        std::uint64_t flits = 0;
        for (unsigned vc = 0; vc < t1::vcs; ++vc) flits += router.inputs[port * t1::vcs + vc].flits;
        const std::uint64_t before = std::exchange(before_[{node, port}], flits);
        if (flits != before) all.push_back(flits - before);
      }
    }
    return all;
  }

  NodeId nodes_ = 0;
  std::string grid_;
  std::shared_ptr<host::Memory> memory_;
  std::vector<std::unique_ptr<Member>> members_;
  std::map<std::pair<NodeId, unsigned>, std::uint64_t> before_{};
};

/// Flits of a message with a word and so much payload, and its list.
constexpr std::uint64_t flits_of(std::size_t payload_bytes, std::size_t listed) {
  const std::size_t words = emulated::words_of(1, true, payload_bytes + 4 * (1 + listed));
  return (t1::words_of_header + words + t1::words_per_flit - 1) / t1::words_per_flit;
}

// A copy at every node on the way, and each link carries the packet once, not once for each node behind it (T1 report, A.8).
TEST_F(MulticastOverT1, PutsOnePacketOnEachLinkOfARow) {
  make(2, 8);
  ASSERT_EQ(at(10).send({8, 9, 10, 11, 12, 13, 14, 15}, 1, 40, Priority::low), Status::ok);
  finish();
  EXPECT_THAT(who(), testing::SizeIs(8));
  const auto links = flits_over_links();
  EXPECT_EQ(links.size(), 7u) << "both ways round the ring, as far as the farthest each";
  EXPECT_THAT(links, Each(flits_of(40, 0)));

  ASSERT_EQ(at(2).send({3, 4, 5}, 2, 40, Priority::high), Status::ok) << "from outside";
  finish();
  EXPECT_THAT(flits_over_links(), ElementsAre(flits_of(40, 0), flits_of(40, 0), flits_of(40, 0)));
}

// Figure 9: along the row, then from each of its nodes along the columns.
TEST_F(MulticastOverT1, PutsOnePacketOnEachLinkOfAPatch) {
  make(4, 8);
  const Ids patch{9, 10, 11, 17, 18, 19, 25, 26};
  ASSERT_EQ(at(8).send(patch, 1, 8, Priority::low), Status::ok);
  finish();
  EXPECT_EQ(who().size(), patch.size());
  const auto links = flits_over_links();
  EXPECT_EQ(links.size(), patch.size()) << "3 along the row, 5 down the columns";
  const auto long_list = flits_of(8, patch.size());
  EXPECT_EQ(std::ranges::count(links, long_list), 3) << "the first phase, with the list";
  EXPECT_EQ(std::ranges::count(links, flits_of(8, 0)), 5) << "the second, without";
}

// What is more than the tree can say: whom the sender reaches itself gets all that it sends in order, to whatever group, or to it alone.
TEST_F(MulticastOverT1, WhomTheSenderReachesGetsAllThatItSendsInOrder) {
  make(3, 6);
  const std::uint64_t seed = test::seed();
  test::Random random(seed);
  const std::vector<Ids> groups = {{6, 7, 8, 9, 10, 11}, {7, 8, 9}, {7, 11}, {1, 13},
                                   {1, 7, 13},           {1},       {8, 7}};
  std::uint64_t number = 0;
  for (int i = 0; i < 2'000; ++i) {
    Ids group = groups[random.below(groups.size())];
    std::ranges::sort(group);
    const std::size_t bytes = random.one_in(5) ? random.below(4'000) : random.below(100);
    const Status status = random.one_in(3) ? at(7).request(group.front(), number, bytes, Priority::low)
                                           : at(7).send(group, number, bytes, Priority::low);
    if (status == Status::ok) ++number;
    if (random.one_in(3)) at(static_cast<NodeId>(random.below(nodes_))).poll(1 + random.below(3));
  }
  finish();
  EXPECT_GT(number, 100u);
  for (NodeId node = 0; node < nodes_; ++node)
    EXPECT_TRUE(std::ranges::is_sorted(at(node).got, std::ranges::less{}, &Got::number))
        << "at node " << node << ", seed " << seed;
}

// Groups of any shape from inside and outside, of every length, at both priorities, while nodes take little and some die.
TEST_F(MulticastOverT1, EveryMemberOnceAndInOrderWhateverHappens) {
  const std::uint64_t seed = test::seed();
  test::Random random(seed);
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    make(1 + static_cast<unsigned>(random.below(4)), 1 + static_cast<unsigned>(random.below(6)));
    std::vector<Ids> groups;
    for (int i = 0; i < 4; ++i) {
      Ids members;
      for (NodeId node = 0; node < nodes_; ++node) {
        if (!random.one_in(3)) members.push_back(node);
      }
      if (!members.empty()) groups.push_back(members);
    }
    if (groups.empty()) continue;
    std::set<NodeId> dead;
    while (dead.size() + 1 < nodes_ && random.one_in(3))
      dead.insert(static_cast<NodeId>(random.below(nodes_)));
    for (NodeId node = 0; node < nodes_; ++node) {
      for (const NodeId gone : dead) at(node).close(gone);
    }
    // By sender, group and priority: numbers name all three, so that each is looked at on its own.
    std::map<std::pair<NodeId, std::uint64_t>, std::uint64_t> taken;
    const auto stream = [](std::size_t group, Priority priority) {
      return (group << 1 | static_cast<std::uint64_t>(priority)) << 32;
    };
    for (int i = 0; i < 300; ++i) {
      const auto from = static_cast<NodeId>(random.below(nodes_));
      if (dead.contains(from)) continue;
      const std::size_t g = random.below(groups.size());
      const Priority priority = random.one_in(3) ? Priority::high : Priority::low;
      std::uint64_t& count = taken[{from, stream(g, priority)}];
      const std::size_t bytes = random.one_in(6) ? random.below(9'000) : random.below(200);
      if (at(from).send(groups[g], stream(g, priority) | count, bytes, priority) == Status::ok) ++count;
      if (random.one_in(3)) at(static_cast<NodeId>(random.below(nodes_))).poll(1 + random.below(4));
    }
    finish();
    for (NodeId node = 0; node < nodes_; ++node) {
      std::map<std::pair<NodeId, std::uint64_t>, std::uint64_t> next;
      for (const Got& got : at(node).got) {
        const std::uint64_t its = got.number >> 32 << 32;
        std::uint64_t& expected = next[{got.from, its}];
        ASSERT_EQ(got.number, its | expected++) << "at node " << node << " from " << got.from;
      }
      for (const auto& [key, count] : taken) {
        const Ids& group = groups[key.second >> 33];
        const bool member = std::ranges::binary_search(group, node) && !dead.contains(node);
        ASSERT_EQ((next[{key.first, key.second}]), member ? count : 0)
            << "at node " << node << " from " << key.first;
      }
    }
  }
}

}  // namespace am::core::multicast_over_t1_test
