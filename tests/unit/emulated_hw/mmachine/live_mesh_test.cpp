// The M-Machine's network live: each message is counted once, where it is taken or where it came from; and which channel it takes on its
// way (3.3.2, 3.3.3). Carriers that are stopped or killed: live_mesh_stops_test.cpp.
#include "emulated_hw/mmachine/live_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "live_network.hpp"
#include "support/random.hpp"

namespace mmachine_live_mesh_test {

using namespace am::mmachine;
using am::kit::Grid;
using am::kit::LiveChannel;
using test::all_inputs;
using test::all_kinds;
using test::back_as;
using test::input_at;
using test::LiveNetwork;
using test::priority_of;
using test::taken_as;
using enum MessageKind;
constexpr auto p0 = Priority::p0;
constexpr auto p1 = Priority::p1;

struct Extents {
  unsigned rows;
  unsigned columns;
};
constexpr Extents shapes[] = {{1, 1}, {1, 2}, {2, 1}, {3, 5}, {4, 4}, {32, 1}, {1, 32}};

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
    const LiveMessage same = LiveMessage::of(message.bits());
    ASSERT_EQ(same.destination, message.destination);
    ASSERT_EQ(same.source, message.source);
    ASSERT_EQ(same.flits, message.flits);
    ASSERT_EQ(same.kind, message.kind);
    ASSERT_EQ(same.counts, message.counts);
    ASSERT_EQ(same.is_back, message.is_back);
    ASSERT_EQ(same.was_ordered, message.was_ordered);
    ASSERT_EQ(same.fate, message.fate);
    ASSERT_EQ(same.bits(), message.bits());
    ASSERT_EQ(message.priority(), message.kind == p0_ordered || message.kind == p0_unordered ? p0 : p1);
  }
  for (const MessageKind kind : {p0_ordered, p0_unordered}) {
    const LiveMessage back =
        LiveMessage{.destination = 1023, .source = 512, .flits = 13, .kind = kind, .fate = Fate::sent_back}
            .sent_back();
    const LiveMessage same = LiveMessage::of(back.bits());
    EXPECT_EQ(same.destination, 512u);
    EXPECT_EQ(same.source, 1023u);
    EXPECT_EQ(same.flits, 15u) << "handler and address are a part of its body (3.3.2)";
    EXPECT_EQ(same.kind, p1_unordered);
    EXPECT_TRUE(same.counts && same.is_back);
    EXPECT_EQ(same.was_ordered, kind == p0_ordered);
    EXPECT_EQ(same.fate, Fate::open);
  }
}

TEST(MMachineLiveMesh, WhatCannotBeAMeshIsRefused) {
  for (const auto& [rows, columns] : {Extents{0, 1}, {1, 0}, {33, 1}, {1, 33}})
    EXPECT_THROW(LiveNetwork(rows, columns), std::invalid_argument) << rows << "x" << columns;
}

TEST(MMachineLiveMesh, CarriesEachMessageToItsNode) {
  for (const auto& [rows, columns] : shapes) {
    SCOPED_TRACE(rows);
    SCOPED_TRACE(columns);
    LiveNetwork net(rows, columns);
    std::uint64_t links = 0;
    unsigned sent = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (const MessageKind kind : all_kinds) {
          for (std::uint64_t n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.send({.destination = to, .source = from, .flits = 2, .kind = kind}));
            ASSERT_EQ(net.count(to, from, taken_as(kind)), n);
            ASSERT_EQ(net.shown(to, from, taken_as(kind)), n);
            ASSERT_EQ(net.told(), ++sent);
          }
        }
        links += 1 + am::kit::distance(net.mesh().grid(), from, to);
      }
    }
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.flits(), links * message_kinds * 9 * 2)
        << "each on each link of its way, and out at its end";
    EXPECT_EQ(net.count_of_all(), sent) << "nothing else is counted";
    for (NodeNumber at = 0; at < net.nodes(); ++at)
      EXPECT_EQ(net.times_took(at), net.nodes() * 2 * 9) << "those of P0";
  }
}

/// Counts all that comes to a node in one word.
class FewCounts final : public LiveMesh::Nodes {
 public:
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber, Counted) noexcept override {
    return arrivals_[at];
  }
  void arrived(NodeNumber, NodeNumber from, Counted) noexcept override { last_from_ = from; }
  void show(NodeNumber, NodeNumber, Counted) noexcept override {}
  void has_room(NodeNumber) noexcept override {}
  [[nodiscard]] bool takes(NodeNumber at) noexcept override { return at % 2 == 0; }
  void took(NodeNumber) noexcept override {}
  [[nodiscard]] std::uint64_t count(NodeNumber at) const { return am::kit::Entry{arrivals_[at]}.count(); }
  [[nodiscard]] NodeNumber last_from() const { return last_from_; }

 private:
  std::array<std::atomic<std::uint64_t>, am::kit::most_live_nodes> arrivals_{};
  NodeNumber last_from_ = 0;
};

TEST(MMachineLiveMesh, FromCornerToCornerOf1024Nodes) {
  FewCounts nodes;
  std::vector<test::Line> memory(LiveMesh::bytes(1024) / sizeof(test::Line));
  LiveMesh mesh(32, 32, memory.front().bytes, nodes);
  std::array<std::uint64_t, 1024> expected{};
  for (const NodeNumber from : {0u, 31u, 992u, 1023u}) {
    for (const NodeNumber to : {0u, 31u, 992u, 1023u}) {
      for (const MessageKind kind : all_kinds) {
        ASSERT_TRUE(mesh.inject(from, {.destination = to, .source = from, .kind = kind}));
        mesh.carry(from, priority_of(kind));
        const bool comes_back = priority_of(kind) == p0 && to % 2 == 1;
        ASSERT_EQ(nodes.count(comes_back ? from : to), ++expected[comes_back ? from : to]);
        ASSERT_EQ(nodes.last_from(), comes_back ? to : from);
      }
    }
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

// A node that takes nothing sends each one back (3.3.2), handler and address included; it may be sent again, and then it is taken.
TEST(MMachineLiveMesh, SendsBackWhatANodeDoesNotTake) {
  for (const auto& [rows, columns] : shapes) {
    SCOPED_TRACE(rows);
    SCOPED_TRACE(columns);
    LiveNetwork net(rows, columns);
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        const std::uint64_t links = am::kit::distance(net.mesh().grid(), from, to);
        for (const MessageKind kind : {p0_ordered, p0_unordered}) {
          const LiveMessage message{.destination = to, .source = from, .flits = 3, .kind = kind};
          const unsigned took = net.times_took(to);
          const std::uint64_t flits = net.flits();
          for (std::uint64_t n = 1; n <= 5; ++n) {
            net.takes_p0 = [=](NodeNumber at) {
              EXPECT_EQ(at, to) << "only its destination is asked";
              return false;
            };
            ASSERT_TRUE(net.send(message));
            ASSERT_EQ(net.count(to, from, taken_as(kind)), n - 1);
            ASSERT_EQ(net.count(from, to, back_as(kind)), n);
            ASSERT_EQ(net.shown(from, to, back_as(kind)), n);
            ASSERT_EQ(net.times_took(to), took + n - 1);
            net.takes_p0 = [](NodeNumber) { return true; };
            ASSERT_TRUE(net.send(message));
            ASSERT_EQ(net.count(to, from, taken_as(kind)), n);
            ASSERT_EQ(net.count(from, to, back_as(kind)), n);
            ASSERT_EQ(net.times_took(to), took + n);
          }
          ASSERT_EQ(net.flits() - flits, 5 * ((links + 1) * 3 + links * 3 + (links + 2) * 5));
        }
        for (const MessageKind kind : {p1_ordered, p1_unordered}) {
          net.takes_p0 = [](NodeNumber) { return false; };
          ASSERT_TRUE(net.send({.destination = to, .source = from, .kind = kind}));
          ASSERT_EQ(net.count(to, from, taken_as(kind)), 1u) << "P1 is always taken";
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count_of_all(), std::uint64_t{net.nodes()} * net.nodes() * (2 * 5 * 2 + 2));
  }
}

TEST(MMachineLiveMesh, HasRoomForOneMessageOfEachPriority) {
  LiveNetwork net(1, 2);
  for (const MessageKind kind : all_kinds) {
    const LiveMessage message{.destination = 1, .source = 0, .flits = 13, .kind = kind};
    const Priority priority = message.priority();
    const Priority other = priority == p0 ? p1 : p0;
    const unsigned told = net.room_told(0);
    const std::uint64_t counted = net.count(1, 0, taken_as(kind));
    EXPECT_TRUE(net.mesh().accepts(0, priority));
    EXPECT_TRUE(net.mesh().has_gone(0));
    ASSERT_TRUE(net.mesh().inject(0, message));
    EXPECT_FALSE(net.mesh().has_gone(0));
    EXPECT_FALSE(net.mesh().inject(0, message));
    EXPECT_FALSE(net.mesh().accepts(0, priority));
    EXPECT_TRUE(net.mesh().accepts(0, other));
    EXPECT_TRUE(net.mesh().accepts(1, priority));
    EXPECT_FALSE(net.mesh().ask_for_room(0, priority));
    EXPECT_EQ(net.room_told(0), told);
    net.mesh().carry(0, priority);
    EXPECT_EQ(net.room_told(0), told + 1);
    EXPECT_EQ(net.count(1, 0, taken_as(kind)), counted + 1);
    EXPECT_TRUE(net.mesh().has_gone(0));
    ASSERT_TRUE(net.send(message));
    EXPECT_EQ(net.room_told(0), told + 1) << "only who has asked is told";
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
  void occupy(MessageKind kind) {
    const unsigned input = input_at(behind, static_cast<unsigned>(own_channel(kind)));
    EXPECT_TRUE(net.send_to_next({.destination = 2, .source = 1, .flits = 15, .kind = kind}));
    EXPECT_EQ(net.filled(2, input), 1u) << "alone, it takes its own";
  }
  void ask(MessageKind kind) {
    const unsigned input = input_at(behind, static_cast<unsigned>(own_channel(kind)));
    EXPECT_TRUE(net.send_to_next({.destination = 2, .source = 0, .flits = flits_of(kind), .kind = kind}));
    EXPECT_EQ(net.filled(1, input), 1u) << "alone, it takes its own";
  }
  /// One decision of the router, of these inputs: what each kind was given.
  ChannelAssignment decide(am::kit::Requests inputs) {
    std::array<std::uint64_t, most_channels> before{};
    for (unsigned channel = 0; channel < most_channels; ++channel) before[channel] = flits(channel);
    Carrier<>(net.mesh()).run(1, inputs, 1);
    ChannelAssignment given{};
    for (unsigned channel = 0; channel < most_channels; ++channel) {
      const std::uint64_t grown = flits(channel) - before[channel];
      if (grown != 0) given[grown - first_flits] = channel;
    }
    for (const MessageKind kind : all_kinds) {
      const std::size_t own = own_channel(kind);
      const unsigned left = net.filled(1, input_at(behind, static_cast<unsigned>(own)));
      EXPECT_EQ(left, (asks_ >> own & 1) != 0 && !given[own] ? 1u : 0u)
          << "those that were given nothing stay";
    }
    return given;
  }
  LiveNetwork net{1, 3};
  static constexpr unsigned behind = Grid::down(0);  // the port at which links upward end

 private:
  static constexpr unsigned first_flits = 3;
  static unsigned flits_of(MessageKind kind) {
    return first_flits + static_cast<unsigned>(own_channel(kind));
  }
  [[nodiscard]] std::uint64_t flits(unsigned channel) const {
    return net.input(2, input_at(behind, channel)).flits;
  }
  const unsigned asks_;
};

ChannelRequests requests(unsigned asks, unsigned occupied, bool escape = false) {
  ChannelRequests made{.escape = escape};
  for (unsigned i = 0; i < 4; ++i) {
    made.asks[i] = (asks >> i & 1) != 0;
    made.free[i] = (occupied >> i & 1) == 0;
  }
  return made;
}

TEST(MMachineLiveMesh, OneThatIsAloneTakesTheChannelOfTheTables) {
  for (const MessageKind kind : all_kinds) {
    const unsigned asks = 1u << own_channel(kind);
    for (unsigned occupied = 0; occupied < 16; ++occupied) {
      SCOPED_TRACE(occupied);
      Crossing crossing(asks, occupied);
      const auto its = static_cast<unsigned>(own_channel(kind));
      const ChannelAssignment given = crossing.decide(am::kit::request(input_at(Crossing::behind, its)));
      EXPECT_EQ(given, assign_channels(requests(asks, occupied))) << "kind " << its;
      EXPECT_EQ(crossing.net.refused(1), given[its] ? 0u : 1u);
    }
  }
}

TEST(MMachineLiveMesh, ThoseWhoAskAtOnceGetWhatTheTablesSay) {
  for (unsigned asks = 1; asks < 16; ++asks) {
    for (unsigned occupied = 0; occupied < 16; ++occupied) {
      SCOPED_TRACE(asks);
      SCOPED_TRACE(occupied);
      Crossing crossing(asks, occupied);
      EXPECT_EQ(crossing.decide(all_inputs), assign_channels(requests(asks, occupied)));
      // and all goes on
      crossing.net.look_after(16);
      EXPECT_TRUE(crossing.net.is_empty());
      EXPECT_EQ(crossing.net.count_of_all(),
                static_cast<unsigned>(std::popcount(asks) + std::popcount(occupied)));
    }
  }
}

/// The second table of 3.3.3, by hand: to whom unordered ones yield.
TEST(MMachineLiveMesh, UnorderedOnesYieldToThoseWhoseOwnItIs) {
  const auto given = [](std::initializer_list<MessageKind> kinds, std::initializer_list<unsigned> free) {
    unsigned asks = 0, occupied = 15;
    for (const MessageKind kind : kinds) asks |= 1u << own_channel(kind);
    for (const unsigned channel : free) occupied &= ~(1u << channel);
    return Crossing(asks, occupied).decide(all_inputs);
  };
  using Given = ChannelAssignment;
  constexpr auto none = std::nullopt;
  EXPECT_EQ(given({p1_unordered, p0_unordered}, {0, 1, 2}), (Given{none, none, 2, 1}));
  EXPECT_EQ(given({p1_unordered, p1_ordered}, {0, 1}), (Given{none, 1, none, 0}));
  EXPECT_EQ(given({p1_unordered, p0_ordered}, {0}), (Given{0, none, none, none}));
  EXPECT_EQ(given({p0_unordered, p1_unordered}, {3}), (Given{none, none, none, 3}));
  EXPECT_EQ(given({p0_unordered, p0_ordered}, {0, 3}), (Given{0, none, 3, none}));
  EXPECT_EQ(given({p0_unordered, p0_ordered}, {0}), (Given{0, none, none, none}));
  EXPECT_EQ(given({p0_unordered, p1_unordered}, {0, 1}), (Given{none, none, 0, 1}));
}

// "all of VC0, VC2, VC3 downstream are occupied by P0 messages that are also indefinitely stuck, and there is an incessant stream of new
// P1-ordered messages" (3.3.3).
TEST(MMachineLiveMesh, AnUnorderedOneOfPriorityOneEscapesAfter16Losses) {
  Crossing crossing(0b1010, 0b1101);
  LiveNetwork& net = crossing.net;
  const unsigned way = input_at(Crossing::behind, 1);  // channel 1, before the router and behind it
  for (int again = 0; again < 3; ++again) {
    for (int losses = 0; losses < 16; ++losses) {
      SCOPED_TRACE(losses);
      Carrier<>(net.mesh()).run(1, all_inputs, 1);
      ASSERT_EQ(net.filled(1, way), 0u) << "the ordered one has gone";
      ASSERT_EQ(net.filled(1, input_at(Crossing::behind, 3)), 1u);
      ASSERT_TRUE(net.carry_out_of(2, way));
      crossing.ask(p1_ordered);
    }
    Carrier<>(net.mesh()).run(1, all_inputs, 1);
    ASSERT_EQ(net.filled(1, way), 1u) << "it stays";
    ASSERT_EQ(net.filled(1, input_at(Crossing::behind, 3)), 0u) << "and this one goes";
    ASSERT_TRUE(net.carry_out_of(2, way));
    crossing.ask(p1_unordered);
  }
  net.look_after(16);
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(2, 0, Counted::p1), 3u * 16 + 1);
  EXPECT_EQ(net.count(2, 0, Counted::p1_unordered), 4u);
}

// It has lost 16 times, and then got a channel while nobody else asked: what it has lost before counts no longer.
TEST(MMachineLiveMesh, WhoHasGoneAloneHasLostToNobody) {
  Crossing crossing(0b1010, 0b1101);
  LiveNetwork& net = crossing.net;
  const unsigned of_ordered = input_at(Crossing::behind, 1);  // before the router and behind it
  const unsigned of_unordered = input_at(Crossing::behind, 3);
  for (int losses = 0; losses < 16; ++losses) {
    Carrier<>(net.mesh()).run(1, all_inputs, 1);
    ASSERT_EQ(net.filled(1, of_unordered), 1u);
    ASSERT_TRUE(net.carry_out_of(2, of_ordered));
    if (losses != 15) crossing.ask(p1_ordered);
  }
  ASSERT_TRUE(net.carry_out_of(2, of_unordered));
  Carrier<>(net.mesh()).run(1, am::kit::request(of_unordered), 1);
  ASSERT_EQ(net.filled(1, of_unordered), 0u);
  ASSERT_EQ(net.filled(2, of_unordered), 1u);
  crossing.ask(p1_ordered);
  crossing.ask(p1_unordered);
  Carrier<>(net.mesh()).run(1, all_inputs, 1);
  EXPECT_EQ(net.filled(1, of_ordered), 0u) << "the ordered one goes, to which the channel belongs";
  EXPECT_EQ(net.filled(1, of_unordered), 1u);
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
      Carrier<>(net.mesh()).run(at, all_inputs, 1);
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

// -- many at once ----------------------------------------------------------------------------------------------------

/// Random loads by several threads, each of several nodes, which take what they like: each message is counted once, and there is nothing
/// left when all have stopped.
TEST(MMachineLiveMesh, KeepsAllUnderManyCarriers) {
  test::Random seeds(test::seed());
  for (const auto& [rows, columns] : {Extents{1, 2}, {2, 3}, {4, 4}, {8, 1}}) {
    LiveNetwork net(rows, columns);
    std::atomic<unsigned> asked = 0;
    net.takes_p0 = [&](NodeNumber at) {
      return (asked.fetch_add(1, std::memory_order_relaxed) + at) % 3 != 0;
    };
    constexpr unsigned threads = 4;
    using Sent = std::map<std::tuple<NodeNumber, NodeNumber, MessageKind>, std::uint64_t>;
    std::array<Sent, threads> sent;
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&net, &mine = sent[t], t, random = test::Random(seeds())]() mutable {
        for (int i = 0; i < 20'000; ++i) {
          const auto from =
              static_cast<NodeNumber>(random.below(net.nodes() + threads - 1 - t) / threads * threads + t);
          if (from >= net.nodes()) continue;
          const auto to = static_cast<NodeNumber>(random.below(net.nodes()));
          const MessageKind kind = all_kinds[random.below(4)];
          if (net.mesh().inject(from, {.destination = to, .source = from, .kind = kind}))
            ++mine[{to, from, kind}];
          if (!random.one_in(4)) net.mesh().carry(from, priority_of(kind));
          if (random.one_in(64)) net.mesh().look_after();
        }
      });
    }
    running.clear();
    net.look_after(20);
    ASSERT_TRUE(net.is_empty());
    std::uint64_t all = 0, taken_of_p0 = 0, back = 0, took = 0;
    for (const Sent& mine : sent) {
      for (const auto& [way, count] : mine) {
        const auto& [to, from, kind] = way;
        const std::uint64_t taken = net.count(to, from, taken_as(kind));
        if (priority_of(kind) == p1) {
          ASSERT_EQ(taken, count) << from << " to " << to;
        } else {
          ASSERT_EQ(taken + net.count(from, to, back_as(kind)), count) << from << " to " << to;
          taken_of_p0 += taken;
          back += count - taken;
        }
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

// Nobody is killed: then whoever has injected something and carried may go, and all comes by itself.
TEST(MMachineLiveMesh, LeavesNothingBehindWithoutAnybodyLookingAfterIt) {
  LiveNetwork net(2, 4);
  std::atomic<unsigned> asked = 0;
  net.takes_p0 = [&](NodeNumber) { return asked.fetch_add(1, std::memory_order_relaxed) % 2 == 0; };
  for (int round = 0; round < 300; ++round) {
    {
      std::vector<std::jthread> running;
      for (NodeNumber from = 0; from < 4; ++from) {
        running.emplace_back([&, from] {
          for (NodeNumber i = 0; i < 40; ++i) {
            const MessageKind kind = all_kinds[(from + i / 8) % 4];
            (void)net.send({.destination = (from * 3 + i) % 8, .source = from, .kind = kind});
          }
        });
      }
    }
    ASSERT_TRUE(net.is_empty()) << "round " << round;
  }
}

// Whatever another has scribbled there, nobody reads or writes elsewhere, or carries for ever; and what is not one of its messages is not counted
// for a node that there is not.
TEST(MMachineLiveMesh, WhatAnotherScribblesDoesNotLeadAstray) {
  test::Random random(test::seed());
  for (int round = 0; round < 300; ++round) {
    LiveNetwork net(2, 3);
    net.takes_p0 = [&](NodeNumber) { return random.one_in(2); };
    for (int i = 0; i < 200; ++i) {
      net.scribble(random);
      const auto from = static_cast<NodeNumber>(random.below(6));
      const MessageKind kind = all_kinds[random.below(4)];
      (void)net.send({.destination = static_cast<NodeNumber>(random.below(6)), .source = from, .kind = kind});
      net.mesh().look_after();
    }
  }
}

}  // namespace mmachine_live_mesh_test
