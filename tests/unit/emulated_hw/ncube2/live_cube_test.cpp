// The nCUBE/2's network live (von Eicken 1993, 3.1.3): many carriers at once, and carriers that are stopped, or killed, before any of their
// accesses to what they share. Each message is counted once at each of its nodes, in order, and nothing lies forgotten.
#include "emulated_hw/ncube2/live_cube.hpp"

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace ncube2_live_cube_test {

using namespace am::ncube2;
using namespace test;
using am::kit::Requests;
using test::LiveNetwork;

/// Messages that have come by links so far, and out to nodes.
std::pair<std::uint64_t, std::uint64_t> passed(const LiveNetwork& net, LiveCube& cube) {
  std::uint64_t links = 0, out = 0;
  for (NodeNumber node = 0; node < net.nodes(); ++node) {
    links += net.came(node, 0, most_live_dimensions) + net.came(node, answers, most_live_dimensions);
    out += cube.router(node).to_node;
  }
  return {links, out};
}
unsigned hops(NodeNumber from, NodeNumber to) { return static_cast<unsigned>(std::popcount(from ^ to)); }

TEST(LiveCube, CarriesEachMessageToItsNode) {
  for (const unsigned dimensions : {0u, 1u, 3u, 5u}) {
    LiveNetwork net(dimensions);
    std::uint64_t links = 0, all = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (const auto& [who, what] : {std::pair{For::low, Counted::low},
                                        {For::high, Counted::high},
                                        {For::store, Counted::stored},
                                        {For::fetch, Counted::answered}}) {
          if (who >= For::store && from == to) continue;
          const bool turns = who == For::fetch;
          for (std::uint64_t n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.send({.destination = to, .source = from, .who = who}));
            ASSERT_EQ(net.count(turns ? from : to, turns ? to : from, what), n);
            ASSERT_EQ(net.shown(turns ? from : to, turns ? to : from, what), n);
            links += hops(from, to) * (turns ? 2 : 1);
            ++all;
          }
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(passed(net, net.mesh()), std::pair(links, all));
  }
}

// NC-14: each node of the subcube once, but the sender; a tree, so one link for each router that is reached.
TEST(LiveCube, BroadcastsToSubcubes) {
  for (NodeNumber from = 0; from < 16; ++from) {
    for (NodeNumber mask = 1; mask < 16; ++mask) {
      for (NodeNumber node = 0; node < 16; ++node) {
        if ((node & mask) != 0) continue;
        LiveNetwork net(4);
        ASSERT_TRUE(net.send({.destination = node, .source = from, .who = For::high, .mask = mask}));
        ASSERT_TRUE(net.is_empty());
        std::uint64_t links = 0;
        for (NodeNumber to = 0; to < 16; ++to) {
          const bool is_reached = (to | mask) == (node | mask) && to != from;
          ASSERT_EQ(net.count(to, from, Counted::high), is_reached ? 1u : 0u)
              << from << ' ' << node << ' ' << mask;
          links += net.came(to, 0, most_live_dimensions);
          ASSERT_LE(net.came(to, 0, most_live_dimensions), 1u);
        }
        ASSERT_GE(links + 1, 1u << std::popcount(mask));
      }
    }
  }
}

TEST(LiveCube, HasRoomForAsManyAsAnEngineHolds) {
  LiveNetwork net(2);
  const LiveMessage message{.destination = 3};
  for (unsigned i = 0; i < am::kit::HeldChannel::slots; ++i) ASSERT_TRUE(net.mesh().inject(0, message));
  EXPECT_FALSE(net.mesh().inject(0, message));
  EXPECT_FALSE(net.mesh().inject(0, {.destination = 1, .who = For::high})) << "by the same engine";
  EXPECT_TRUE(net.mesh().inject(0, {.destination = 2}));
  EXPECT_FALSE(net.mesh().ask_for_room(0, message));
  net.mesh().carry(0, message);
  EXPECT_EQ(net.room_told(0), 1u);
  EXPECT_TRUE(net.mesh().ask_for_room(0, message));
  EXPECT_EQ(net.count(3, 0, Counted::low), am::kit::HeldChannel::slots);
  EXPECT_FALSE(net.mesh().has_gone(0)) << "the other engine's";
  net.mesh().carry(0, {.destination = 2});
  EXPECT_TRUE(net.is_empty());
}

// What another has scribbled there is no message: it ends where it is, and counts nowhere.
TEST(LiveCube, ForgetsWhatIsNoMessage) {
  test::Random random(test::seed());
  LiveNetwork net(2);
  for (int i = 0; i < 10'000; ++i) {
    auto& input = const_cast<am::kit::HeldChannel&>(net.mesh().router(1).inputs[engines]);
    ASSERT_TRUE(input.put(static_cast<std::uint32_t>(random()), am::kit::HeldChannel::slots));
    net.mesh().carry(1, {.destination = 0});
  }
  net.look_after(8);
  EXPECT_TRUE(net.is_empty());
}

TEST(LiveCube, GoesOnWhateverAnotherScribblesThere) {
  goes_on_whatever_another_scribbles(
      3'000, 12, [](Random& random) { return LiveNetwork(1 + static_cast<unsigned>(random.below(3))); },
      [](LiveNetwork& net, Random& random, NodeNumber from) {
        const LiveMessage message{.destination = 0, .source = from, .mask = net.nodes() - 1};
        if (net.mesh().inject(from, message) && random.one_in(2)) net.mesh().carry(from, message);
      });
}

/// What is counted for a message, and where.
using Counts = LiveCounts<Counted>;
void add(Counts& counts, const LiveMessage& message, NodeNumber nodes) {
  if (message.who == For::fetch) {
    ++counts[{message.source, message.destination, Counted::answered}];
    return;
  }
  for (NodeNumber to = 0; to < nodes; ++to) {
    if ((to | message.mask) != (message.destination | message.mask) ||
        (message.mask != 0 && to == message.source))
      continue;
    ++counts[{to, message.source, message.counted()}];
  }
}
LiveMessage random_message(test::Random& random, NodeNumber from, NodeNumber nodes) {
  LiveMessage message{.destination = static_cast<NodeNumber>(random.below(nodes)), .source = from};
  message.who = static_cast<For>(random.below(4));
  if (message.who >= For::store && message.destination == from) message.who = For::low;
  if (message.who <= For::high && random.one_in(3))
    message.mask = static_cast<std::uint32_t>(random.below(nodes));
  return message;
}

TEST(LiveCube, KeepsAllUnderManyCarriers) {
  test::Random seeds(test::seed());
  for (const unsigned dimensions : {1u, 2u, 4u}) {
    LiveNetwork net(dimensions);
    keeps_all_under_many_carriers<Counts>(net, seeds, [&](Random& random, NodeNumber from, Counts& sent) {
      const LiveMessage message = random_message(random, from, net.nodes());
      if (net.mesh().inject(from, message)) add(sent, message, net.nodes());
      if (!random.one_in(4)) net.mesh().carry(from, message);
    });
  }
}

constexpr Requests every_engine = ((Requests{1} << (live_channels - engines)) - 1) << engines;

/// Messages of every kind are on their way through a square; carriers move them. Two broadcasts want the same channels.
struct Scene {
  LiveNetwork net{2};
  Counts counts;
  static auto carrier(LiveNetwork& net, NodeNumber first, unsigned steps = 200) {
    return carrier_of(net, first, every_engine, steps);
  }
  Scene() {
    for (const LiveMessage& message :
         {LiveMessage{.destination = 0, .source = 0, .mask = 3}, LiveMessage{.destination = 3, .source = 0},
          LiveMessage{.destination = 2, .source = 0, .who = For::fetch},
          LiveMessage{.destination = 1, .source = 3, .mask = 2},
          LiveMessage{.destination = 0, .source = 1, .who = For::high, .mask = 3},
          LiveMessage{.destination = 3, .source = 0, .who = For::store}}) {
      EXPECT_TRUE(net.mesh().inject(message.source, message));
      add(counts, message, net.nodes());
    }
  }
  void all_has_come() {
    expect_that_it_goes_on(net, counts, [&](NodeNumber from) {
      const LiveMessage message{.destination = from, .source = from, .mask = 3};
      add(counts, message, net.nodes());
      return net.send(message);
    });
  }
};

TEST(LiveCubeStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  goes_on_without_a_carrier<Scene>({0, 1, 3});
}
TEST(LiveCubeStops, TwoWhoWereStoppedDoNoHarmEither) { goes_on_without_two_carriers<Scene>({0, 1}); }
TEST(LiveCubeStops, AnyOrderOfThreeCarriersIsAsGood) { any_order_is_as_good<Scene>({0, 1, 3}, 150); }
TEST(LiveCubeStops, WhatACarrierGivesUpIsLeftToOthers) { what_is_given_up_is_left_to_others<Scene>({0, 1}); }

// More carriers than a channel has places, each with a broadcast, a message over one of its channels, or a fetch: some find no room. Nobody
// looks after them.
TEST(LiveCubeStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  std::uint64_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(2);
    Counts counts;
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < 12; ++i) {
      const NodeNumber from = i % 2;  // both of whom send along the other dimension
      LiveMessage message{.destination = 3 - from, .source = from};
      if (round % 3 != 0 && i % 3 == 0) message = {.destination = 0, .source = from, .mask = 3};
      if (round % 3 == 2 && i % 3 == 1) message.who = For::fetch;
      all.emplace_back([&net, &counts, message, from](Steps::One& one) {
        if (net.mesh().inject(from, message)) add(counts, message, net.nodes());
        carrier_of(net, from, every_engine)(one);
      });
    }
    test::finish_in_any_order(all, random, 2 + random.below(40));
    EXPECT_TRUE(net.is_empty());
    expect_counted(net, counts);
    for (NodeNumber node = 0; node < net.nodes(); ++node) {
      for (const auto& input : net.mesh().router(node).inputs) refused += input.refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 10u);
}

// Two neighbours fill the channel to each other; who carries that stands still. Then each has a broadcast that wants this channel, and
// another, and is favoured.
TEST(LiveCubeStops, FavouredBroadcastsDoNotWaitForEachOther) {
  LiveNetwork net(2);
  const Requests first_engine = am::kit::request(engines);
  std::deque<Steps::One> stopped;
  for (const NodeNumber node : {0u, 1u}) {
    for (unsigned i = 0; i < am::kit::HeldChannel::slots; ++i)
      ASSERT_TRUE(net.mesh().inject(node, {.destination = 1 - node, .source = node}));
    Steps::One& one = stopped.emplace_back(carrier_of(net, node, first_engine));
    while (!net.mesh().has_gone(node)) ASSERT_TRUE(one.go(1));
  }
  for (const NodeNumber node : {0u, 1u}) {
    ASSERT_TRUE(net.mesh().inject(node, {.destination = 0, .source = node, .mask = 3}));
    for (unsigned i = 0; i < LiveCube::Carrier<>::patience; ++i)
      LiveCube::Carrier<>(net.mesh()).run(node, first_engine, 1);
    ASSERT_EQ(net.mesh().router(node).decisions.favours, 1 + engines);
  }
  for (Steps::One& one : stopped) one.finish();
  EXPECT_TRUE(net.is_empty());
  for (const NodeNumber node : {0u, 1u})
    EXPECT_EQ(net.count(node, 1 - node, Counted::low), am::kit::HeldChannel::slots + 1);
}

}  // namespace ncube2_live_cube_test
