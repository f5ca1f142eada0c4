// The M-Machine's network live: each message is counted once, where it is taken or where it came from; and which channel it takes on its
// way (3.3.2, 3.3.3). Carriers that are stopped or killed: live_mesh_stops_test.cpp.
#include "emulated_hw/mmachine/live_mesh.hpp"

#include <thread>

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace mmachine_live_mesh_test {

using namespace am::mmachine;
using am::kit::Grid;
using am::kit::LiveChannel;
using namespace test;
using enum MessageKind;
constexpr auto p0 = Priority::p0;
constexpr auto p1 = Priority::p1;

struct Extents {
  unsigned rows;
  unsigned columns;
};
constexpr Extents shapes[] = {{1, 1}, {1, 2}, {2, 1}, {3, 5}, {4, 4}, {32, 1}, {1, 32}};

auto fields_of(const LiveMessage& message) {
  const auto& [destination, source, flits, kind, counts, is_back, was_ordered, fate] = message;
  return std::tuple(destination, source, flits, kind, counts, is_back, was_ordered, fate);
}

TEST(MMachineLiveMesh, BitsSayTheSameMessage) {
  test::Random random(test::seed());
  for (int i = 0; i < 100'000; ++i) {
    const LiveMessage message{.destination = static_cast<NodeNumber>(random.below(1024)),
                              .source = static_cast<NodeNumber>(random.below(1024)),
                              .flits = static_cast<unsigned>(random.below(16)),
                              .kind = all_kinds[random.below(4)],
                              .counts = random.one_in(2),
                              .is_back = random.one_in(2),
                              .was_ordered = random.one_in(2),
                              .fate = static_cast<Fate>(random.below(3))};
    ASSERT_EQ(fields_of(LiveMessage::of(message.bits())), fields_of(message));
    ASSERT_EQ(message.priority(), message.kind == p0_ordered || message.kind == p0_unordered ? p0 : p1);
  }
  for (const MessageKind kind : {p0_ordered, p0_unordered}) {
    const LiveMessage message{
        .destination = 1023, .source = 512, .flits = 13, .kind = kind, .fate = Fate::sent_back};
    EXPECT_EQ(fields_of(LiveMessage::of(message.sent_back().bits())),
              std::tuple(512u, 1023u, 15u, p1_unordered, true, true, kind == p0_ordered, Fate::open))
        << "handler and address are a part of its body (3.3.2)";
  }
}

TEST(MMachineLiveMesh, WhatCannotBeAMeshIsRefused) {
  for (const auto& [rows, columns] : {Extents{0, 1}, {1, 0}, {33, 1}, {1, 33}})
    EXPECT_THROW(LiveNetwork(rows, columns), std::invalid_argument) << rows << "x" << columns;
}

// P1 is always taken. A node that takes nothing of P0 sends each one back (3.3.2), handler and address included; it may be sent again, and
// then it is taken.
TEST(MMachineLiveMesh, CarriesEachMessageToItsNodeOrBack) {
  for (const auto& [rows, columns] : shapes) {
    SCOPED_TRACE(rows);
    SCOPED_TRACE(columns);
    LiveNetwork net(rows, columns);
    unsigned sent = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        const std::uint64_t links = am::kit::distance(net.mesh().grid(), from, to);
        for (const MessageKind kind : all_kinds) {
          const LiveMessage message{.destination = to, .source = from, .flits = 3, .kind = kind};
          const bool is_p0 = priority_of(kind) == p0;
          const std::uint64_t flits = net.flits();
          const unsigned took = net.times_took(to);
          std::uint64_t taken = 0;
          for (std::uint64_t n = 1; n <= 5; ++n) {
            for (const bool takes : {false, true}) {
              net.takes_p0 = [=](NodeNumber at) {
                EXPECT_EQ(at, to) << "only its destination is asked";
                return takes;
              };
              ASSERT_TRUE(net.send(message));
              ASSERT_EQ(net.told(), ++sent);
              taken += takes || !is_p0 ? 1 : 0;
              ASSERT_EQ(net.count(to, from, taken_as(kind)), taken);
              ASSERT_EQ(net.shown(to, from, taken_as(kind)), taken);
              ASSERT_EQ(net.times_took(to), took + (is_p0 ? taken : 0));
              if (!is_p0) continue;
              ASSERT_EQ(net.count(from, to, back_as(kind)), n);
              ASSERT_EQ(net.shown(from, to, back_as(kind)), n);
            }
          }
          const std::uint64_t of_one_back = links * 3 + (links + 2) * 5;
          ASSERT_EQ(net.flits() - flits, taken * (links + 1) * 3 + (10 - taken) * of_one_back)
              << "each on each link of its way, and out at its end";
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count_of_all(), sent) << "nothing else is counted";
  }
}

TEST(MMachineLiveMesh, CountsOnlyWhatCounts) {
  LiveNetwork net(1, 3);
  for (const MessageKind kind : all_kinds) {
    for (std::uint64_t n = 1; n <= 10; ++n) {
      net.takes_p0 = [](NodeNumber) { return false; };
      ASSERT_TRUE(net.send({.destination = 2, .source = 0, .flits = 10, .kind = kind, .counts = false}));
      net.takes_p0 = [](NodeNumber) { return true; };
      ASSERT_TRUE(net.send({.destination = 2, .source = 0, .flits = 3, .kind = kind}));
      EXPECT_EQ(net.count(2, 0, taken_as(kind)), n);
    }
  }
  EXPECT_EQ(net.count_of_all(), 40u)
      << "nobody is asked about one that does not count, so it does not come back";
  EXPECT_EQ(net.told(), 40u);
  EXPECT_EQ(net.times_took(2), 20u);
  EXPECT_EQ(net.flits(), 40u * (10 + 3) * 3);
}

TEST(MMachineLiveMesh, HasRoomForOneMessageOfEachPriority) {
  LiveNetwork net(1, 2);
  for (const MessageKind kind : all_kinds) {
    const LiveMessage message{.destination = 1, .source = 0, .flits = 13, .kind = kind};
    const Priority priority = message.priority();
    const unsigned told = net.room_told(0);
    EXPECT_TRUE(net.mesh().accepts(0, priority));
    ASSERT_TRUE(net.mesh().inject(0, message));
    EXPECT_FALSE(net.mesh().has_gone(0));
    EXPECT_FALSE(net.mesh().inject(0, message));
    EXPECT_FALSE(net.mesh().accepts(0, priority));
    EXPECT_TRUE(net.mesh().accepts(0, priority == p0 ? p1 : p0));
    EXPECT_FALSE(net.mesh().ask_for_room(0, priority));
    net.mesh().carry(0, priority);
    EXPECT_TRUE(net.mesh().has_gone(0));
    ASSERT_TRUE(net.send(message));
    EXPECT_EQ(net.room_told(0), told + 1) << "once, who has asked";
    EXPECT_TRUE(net.mesh().ask_for_room(0, priority));
    ASSERT_TRUE(net.send(message));
  }
  EXPECT_TRUE(net.is_empty());
}

TEST(MMachineLiveMesh, ForgetsRoutersThatAreQuiet) {
  LiveNetwork net(1, 4);
  for (const bool takes : {true, false}) {
    net.takes_p0 = [=](NodeNumber) { return takes; };
    ASSERT_TRUE(net.send({.destination = 2, .source = 0}));
    EXPECT_TRUE(net.mesh().is_watched(0));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(net.mesh().look_after()) << i;
    for (NodeNumber node = 0; node < 4; ++node) EXPECT_FALSE(net.mesh().is_watched(node));
  }
  EXPECT_EQ(net.count(2, 0, Counted::p0), 1u);
  EXPECT_EQ(net.count(0, 2, Counted::back), 1u);
}

// -- channels ------------------------------------------------------------------------------------------------------

/// One router between two links: messages of some kinds lie in their own channels of the link before it, and some channels of the link
/// behind it hold messages. All their carriers have been killed.
class Crossing {
 public:
  /// Kinds and channels as bits.
  Crossing(unsigned asks, unsigned occupied) : asks_(asks) {
    for (const MessageKind kind : all_kinds) {
      const auto own = static_cast<unsigned>(own_channel(kind));
      if ((occupied >> own & 1) != 0) occupy(kind);
      if ((asks >> own & 1) != 0) ask(kind);
    }
  }
  void occupy(MessageKind kind) { put_on_link({.destination = 2, .source = 1, .flits = 15, .kind = kind}); }
  void ask(MessageKind kind) {
    put_on_link({.destination = 2, .source = 0, .flits = flits_of(kind), .kind = kind});
  }
  /// One decision of the router, of these inputs: what each kind was given.
  ChannelAssignment decide(am::kit::Requests inputs) {
    std::array<std::uint64_t, most_channels> before{};
    for (unsigned channel = 0; channel < most_channels; ++channel) before[channel] = flits(channel);
    LiveMesh::Carrier<>(net.mesh()).run(1, inputs, 1);
    ChannelAssignment given{};
    for (unsigned channel = 0; channel < most_channels; ++channel) {
      const std::uint64_t grown = flits(channel) - before[channel];
      if (grown != 0) given[grown - first_flits] = channel;
    }
    for (const MessageKind kind : all_kinds) {
      const std::size_t own = own_channel(kind);
      EXPECT_EQ(net.filled(1, input_of_link(kind)), (asks_ >> own & 1) != 0 && !given[own] ? 1u : 0u)
          << "those that were given nothing stay";
    }
    return given;
  }
  static unsigned input_of_link(MessageKind kind) {
    return input_at(behind, static_cast<unsigned>(own_channel(kind)));
  }
  LiveNetwork net{1, 3};
  static constexpr unsigned behind = Grid::down(0);  // the port at which links upward end

 private:
  static constexpr unsigned first_flits = 3;
  void put_on_link(const LiveMessage& message) {
    EXPECT_TRUE(net.send_to_next(message));
    EXPECT_EQ(net.filled(message.source + 1, input_of_link(message.kind)), 1u) << "alone, it takes its own";
  }
  static unsigned flits_of(MessageKind kind) {
    return first_flits + static_cast<unsigned>(own_channel(kind));
  }
  [[nodiscard]] std::uint64_t flits(unsigned channel) const {
    return net.input(2, input_at(behind, channel)).flits;
  }
  const unsigned asks_;
};

ChannelRequests requests(unsigned asks, unsigned occupied) {
  ChannelRequests made;
  for (unsigned i = 0; i < 4; ++i) {
    made.asks[i] = (asks >> i & 1) != 0;
    made.free[i] = (occupied >> i & 1) == 0;
  }
  return made;
}

TEST(MMachineLiveMesh, ThoseWhoAskAtOnceGetWhatTheTablesSay) {
  for (unsigned asks = 1; asks < 16; ++asks) {
    const bool is_alone = std::has_single_bit(asks);
    const auto first = static_cast<unsigned>(std::countr_zero(asks));
    for (unsigned occupied = 0; occupied < 16; ++occupied) {
      SCOPED_TRACE(asks);
      SCOPED_TRACE(occupied);
      Crossing crossing(asks, occupied);
      const ChannelAssignment given =
          crossing.decide(is_alone ? am::kit::request(input_at(Crossing::behind, first)) : all_inputs);
      EXPECT_EQ(given, assign_channels(requests(asks, occupied)));
      if (is_alone) {
        EXPECT_EQ(crossing.net.refused(1), given[first] ? 0u : 1u);
        EXPECT_EQ(Crossing(asks, occupied).decide(all_inputs), given) << "whatever its carrier looks at";
      }
      // and all goes on
      crossing.net.look_after(16);
      EXPECT_TRUE(crossing.net.is_empty());
      EXPECT_EQ(crossing.net.count_of_all(),
                static_cast<unsigned>(std::popcount(asks) + std::popcount(occupied)));
    }
  }
}

// "all of VC0, VC2, VC3 downstream are occupied by P0 messages that are also indefinitely stuck, and there is an incessant stream of new
// P1-ordered messages" (3.3.3).
class MMachineLiveEscape : public testing::Test {
 protected:
  void decide(am::kit::Requests inputs = all_inputs) { LiveMesh::Carrier<>(net_.mesh()).run(1, inputs, 1); }
  /// The ordered one goes, and leaves the channel behind the router; the unordered one stays.
  void lose() {
    decide();
    ASSERT_EQ(net_.filled(1, of_ordered_), 0u) << "the ordered one has gone";
    ASSERT_EQ(net_.filled(1, of_unordered_), 1u);
    ASSERT_TRUE(net_.carry_out_of(2, of_ordered_));
  }

  Crossing crossing_{0b1010, 0b1101};
  LiveNetwork& net_ = crossing_.net;
  // before the router and behind it
  const unsigned of_ordered_ = Crossing::input_of_link(p1_ordered);
  const unsigned of_unordered_ = Crossing::input_of_link(p1_unordered);
};

TEST_F(MMachineLiveEscape, IsDueAfter16Losses) {
  for (int again = 0; again < 3; ++again) {
    for (int losses = 0; losses < 16; ++losses) {
      SCOPED_TRACE(losses);
      ASSERT_NO_FATAL_FAILURE(lose());
      crossing_.ask(p1_ordered);
    }
    decide();
    ASSERT_EQ(net_.filled(1, of_ordered_), 1u) << "it stays";
    ASSERT_EQ(net_.filled(1, of_unordered_), 0u) << "and this one goes";
    ASSERT_TRUE(net_.carry_out_of(2, of_ordered_));
    crossing_.ask(p1_unordered);
  }
  net_.look_after(16);
  EXPECT_TRUE(net_.is_empty());
  EXPECT_EQ(net_.count(2, 0, Counted::p1), 3u * 16 + 1);
  EXPECT_EQ(net_.count(2, 0, Counted::p1_unordered), 4u);
}

// It has lost 16 times, and then got a channel while nobody else asked: what it has lost before counts no longer.
TEST_F(MMachineLiveEscape, IsNotForLossesBeforeItWentAlone) {
  for (int losses = 0; losses < 16; ++losses) {
    if (losses != 0) crossing_.ask(p1_ordered);
    ASSERT_NO_FATAL_FAILURE(lose());
  }
  ASSERT_TRUE(net_.carry_out_of(2, of_unordered_));
  decide(am::kit::request(of_unordered_));
  ASSERT_EQ(net_.filled(1, of_unordered_), 0u);
  ASSERT_EQ(net_.filled(2, of_unordered_), 1u);
  crossing_.ask(p1_ordered);
  crossing_.ask(p1_unordered);
  decide();
  EXPECT_EQ(net_.filled(1, of_ordered_), 0u) << "the ordered one goes, to which the channel belongs";
  EXPECT_EQ(net_.filled(1, of_unordered_), 1u);
}

// Four inputs with a message of one kind each, for the same link: they take turns.
TEST(MMachineLiveMesh, InputsTakeTurns) {
  for (const MessageKind kind : all_kinds) {
    LiveNetwork net(3, 3);
    constexpr NodeNumber from[] = {1, 3, 4, 5};
    constexpr NodeNumber at = 4, to = 7;
    std::map<NodeNumber, unsigned> went;
    const unsigned channel = static_cast<unsigned>(own_channel(kind));
    const auto ask = [&](NodeNumber source) {
      const LiveMessage message{.destination = to, .source = source, .kind = kind};
      ASSERT_TRUE(source == at ? net.mesh().inject(at, message) : net.send_to_next(message)) << source;
    };
    for (const NodeNumber source : from) ask(source);
    for (unsigned round = 0; round < 12; ++round) {
      LiveMesh::Carrier<>(net.mesh()).run(at, all_inputs, 1);
      for (unsigned other = 0; other < most_channels; ++other) {
        const unsigned input = input_at(Grid::down(1), other);
        if (net.filled(to, input) == 0) continue;
        const LiveChannel::First first = net.input(to, input).first(am::kit::Look());
        ++went[LiveMessage::of(first.packet).source];
        ASSERT_TRUE(net.carry_out_of(to, input));
        ASSERT_EQ(other, channel);
        ask(LiveMessage::of(first.packet).source);
      }
    }
    for (const NodeNumber source : from) EXPECT_EQ(went[source], 3u) << source;
  }
}

// Whatever another has scribbled there, nobody reads or writes elsewhere, or carries for ever; and what is not one of its messages is not counted
// for a node that there is not.
TEST(MMachineLiveMesh, WhatAnotherScribblesDoesNotLeadAstray) {
  goes_on_whatever_another_scribbles(
      300, 200, [](Random&) { return LiveNetwork(2, 3); },
      [](LiveNetwork& net, Random& random, NodeNumber from) {
        net.takes_p0 = [&](NodeNumber) { return random.one_in(2); };
        const auto to = static_cast<NodeNumber>(random.below(6));
        static_cast<void>(net.send({.destination = to, .source = from, .kind = all_kinds[random.below(4)]}));
      });
}

/// Random loads by several threads, each of several nodes, which take what they like: each message is counted once, and there is nothing
/// left when all have stopped.
TEST(MMachineLiveMesh, KeepsAllUnderManyCarriers) {
  Random seeds(seed());
  for (const auto& [rows, columns] : {Extents{1, 2}, {2, 3}, {4, 4}, {8, 1}}) {
    LiveNetwork net(rows, columns);
    std::atomic<unsigned> asked = 0;
    net.takes_p0 = [&](NodeNumber at) {
      return (asked.fetch_add(1, std::memory_order_relaxed) + at) % 3 != 0;
    };
    constexpr unsigned threads = 4;
    std::array<std::map<std::tuple<NodeNumber, NodeNumber, MessageKind>, std::uint64_t>, threads> sent;
    load_by_threads(net.nodes(), threads, 20'000, seeds,
                    [&](unsigned thread, NodeNumber from, int, Random& random) {
                      const auto to = static_cast<NodeNumber>(random.below(net.nodes()));
                      const MessageKind kind = all_kinds[random.below(4)];
                      if (net.mesh().inject(from, {.destination = to, .source = from, .kind = kind}))
                        ++sent[thread][{to, from, kind}];
                      if (!random.one_in(4)) net.mesh().carry(from, priority_of(kind));
                      if (random.one_in(64)) net.mesh().look_after();
                    });
    net.look_after(20);
    ASSERT_TRUE(net.is_empty());
    std::uint64_t all = 0, taken_of_p0 = 0, back = 0, took = 0;
    for (const auto& mine : sent) {
      for (const auto& [way, count] : mine) {
        const auto& [to, from, kind] = way;
        const std::uint64_t taken = net.count(to, from, taken_as(kind));
        const bool is_p0 = priority_of(kind) == p0;
        ASSERT_EQ(taken + (is_p0 ? net.count(from, to, back_as(kind)) : 0), count) << from << " to " << to;
        taken_of_p0 += is_p0 ? taken : 0;
        back += count - taken;
        all += count;
      }
    }
    for (NodeNumber at = 0; at < net.nodes(); ++at) took += net.times_took(at);
    EXPECT_EQ(took, taken_of_p0) << "nobody was killed";
    EXPECT_EQ(net.count_of_all(), all);
    EXPECT_GT(all, 1'000u);
    EXPECT_GT(back, 100u);
  }
}

}  // namespace mmachine_live_mesh_test
