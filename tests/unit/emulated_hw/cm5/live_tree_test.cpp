// The CM-5's data network live (von Eicken 1993, 3.2.3): many carriers at once, and carriers that are stopped, or killed, before any of their
// accesses to what they share, while the network is frozen and thawed. Each message is counted once at its node, and none lies forgotten.
#include "emulated_hw/cm5/live_tree.hpp"

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace cm5_live_tree_test {

using namespace am::cm5;
using namespace test;
using am::kit::Requests;
using test::LiveNetwork;

constexpr std::array<NodeNumber, 7> sizes{1, 2, 3, 5, 16, 21, 64};

unsigned level_above(NodeNumber one, NodeNumber other) {
  unsigned level = 0;
  for (NodeNumber below = Tree::children; one / below != other / below; below *= Tree::children) ++level;
  return level;
}

// Whoever carries what lies at the lowest routers above a node, and may be stopped before each access.
std::function<void(Steps::One&)> carrier(LiveNetwork& net, NodeNumber node, unsigned steps = 200) {
  return [&net, node, steps](Steps::One& one) {
    for (unsigned link = 0; link < Tree::links; ++link) {
      LiveTree::Carrier<Stops>(net.tree(), Stops{&one})
          .run(LiveTree::entrances(node)[link].router, (Requests{1} << live_channels) - 1, steps);
    }
  };
}

// CM-5: a node has two parents, by the wiring that the clock's network has.
TEST(Cm5LiveTree, HasTheNodesAtTheRoutersOfTheTree) {
  for (const NodeNumber nodes : sizes) {
    const Tree tree(nodes == 1 ? 2 : nodes);
    const am::kit::Wiring wiring = tree.wiring(1);
    EXPECT_EQ(live_tree(nodes).routers().size(), wiring.routers());
    for (NodeNumber node = 0; node < nodes; ++node) {
      for (unsigned link = 0; link < Tree::links; ++link) {
        const am::kit::Wire& wire = wiring.wire(wiring.out_of(wiring.node(node))[link]);
        EXPECT_EQ(LiveTree::entrances(node)[link].router, wire.to.part);
        EXPECT_EQ(LiveTree::entrances(node)[link].input, wire.to.port);
      }
    }
  }
}

TEST(Cm5LiveTree, CarriesEachMessageToItsNodeByACommonParent) {
  for (const NodeNumber nodes : sizes) {
    LiveNetwork net(nodes);
    std::uint64_t links = 0;
    for (NodeNumber from = 0; from < nodes; ++from) {
      for (NodeNumber to = 0; to < nodes; ++to) {
        for (std::uint64_t n = 1; n <= 9; ++n) {
          const LiveMessage message{.destination = to, .source = from};
          ASSERT_TRUE(net.send(message));
          ASSERT_EQ(net.count(message), n) << from << " to " << to << " of " << nodes;
          links += 2 * level_above(from, to);
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.links(), links);
  }
}

// CM-10: at random among the parents.
TEST(Cm5LiveTree, ClimbsByAllParentsAlike) {
  LiveNetwork net(64);
  constexpr std::uint64_t messages = 8'000;
  for (std::uint64_t i = 0; i < messages; ++i)
    ASSERT_TRUE(net.send({.destination = 63, .source = 0, .packet = static_cast<std::uint32_t>(i)}));
  const double even = messages / 16.0;  // roots
  for (am::kit::RouterNumber root = 48; root < 64; ++root) {
    EXPECT_GT(net.input({root, 0}).flits, even / 2);
    EXPECT_LT(net.input({root, 0}).flits, even * 2);
  }
}

// CM-14: who stands still on one way is overtaken on another.
TEST(Cm5LiveTree, LetsMessagesOfAPairOvertakeEachOther) {
  LiveNetwork net(16);
  const LiveMessage first{.destination = 15, .source = 0, .packet = 1};
  const LiveMessage other{.destination = 15, .source = 0, .packet = 2};
  ASSERT_TRUE(net.tree().inject(0, first));
  Steps::One stopped(carrier(net, 0));
  while (!net.tree().has_gone(0)) ASSERT_TRUE(stopped.go(1));
  for (int i = 0; i < 8 && net.count(other) == 0; ++i) ASSERT_TRUE(net.send(other));
  EXPECT_GT(net.count(other), 0u);
  EXPECT_EQ(net.count(first), 0u);
  stopped.finish();
  EXPECT_EQ(net.count(first), 1u);
}

// CM-11: an input holds a message.
TEST(Cm5LiveTree, HasRoomForAMessageAtEachLink) {
  LiveNetwork net(3);
  const LiveMessage message{.destination = 2};
  ASSERT_TRUE(net.tree().inject(0, message));
  ASSERT_TRUE(net.tree().inject(0, message));
  EXPECT_FALSE(net.tree().inject(0, message));
  EXPECT_TRUE(net.tree().inject(1, {.destination = 2, .source = 1}));
  EXPECT_FALSE(net.tree().ask_for_room(0));
  net.tree().carry(0);
  EXPECT_EQ(net.room_told(0), 2u);
  EXPECT_TRUE(net.tree().ask_for_room(0));
  EXPECT_TRUE(net.tree().has_gone(0));
  EXPECT_FALSE(net.tree().has_gone(1));
  net.look_after(20);
  EXPECT_EQ(net.count(message), 2u);
  EXPECT_TRUE(net.is_empty());
}

// What another has scribbled there is no message: it ends where it is. Nor does any word lead out of the routers, or keep a carrier for ever.
TEST(Cm5LiveTree, GoesOnWhateverAnotherScribblesThere) {
  test::Random random(test::seed());
  for (int round = 0; round < 1'000; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(static_cast<NodeNumber>(1 + random.below(20)));
    for (int i = 0; i < 12; ++i) {
      const auto from = static_cast<NodeNumber>(random.below(net.nodes()));
      const LiveMessage message{.destination = static_cast<NodeNumber>(random.below(net.nodes())),
                                .source = from};
      if (net.tree().inject(from, message) && random.one_in(2)) net.tree().carry(from);
      net.scribble(random);
      net.tree().look_after();
      if (random.one_in(4)) net.swap();
    }
  }
}

// CM-26: each message falls into memory, with its destination, and goes there from where it was saved.
TEST(Cm5LiveTree, SavesAllThatIsInAFrozenNetwork) {
  for (const NodeNumber nodes : sizes) {
    LiveNetwork net(nodes);
    std::vector<LiveMessage> sent;
    for (NodeNumber node = 0; node < nodes; ++node) {
      sent.push_back({.destination = nodes - 1 - node, .source = node});
      ASSERT_TRUE(net.tree().inject(node, sent.back()));
    }
    const Requests before = net.under_way();
    ASSERT_TRUE(net.tree().freeze(7));
    EXPECT_FALSE(net.tree().freeze(8));
    EXPECT_EQ(net.tree().frozen_until(), 7u);
    EXPECT_FALSE(net.tree().inject(0, sent.front())) << "nobody injects";
    EXPECT_FALSE(net.tree().ask_for_room(0));
    for (int i = 0; i < 20 && !net.tree().fall(); ++i) {
    }
    EXPECT_EQ(net.under_way(), 0u);
    std::uint64_t come = 0;
    for (const LiveMessage& message : sent) come += net.count(message);
    EXPECT_EQ(net.in_memory() + come, before) << "those next to their nodes had come";
    EXPECT_GE(net.in_memory() * 16, before * (nodes >= 16 ? 8 : 0));
    net.look_after(20);
    EXPECT_EQ(net.in_memory() + come, before) << "nobody takes it out";
    net.tree().thaw(8);
    EXPECT_EQ(net.tree().frozen_until(), 7u);
    net.tree().thaw(7);
    EXPECT_TRUE(net.is_empty());
    EXPECT_GE(net.room_told(0), 1u);
    for (const LiveMessage& message : sent) EXPECT_EQ(net.count(message), 1u);
  }
}

using Counts = LiveCounts<std::uint32_t>;
void add(Counts& counts, const LiveMessage& message) {
  ++counts[{message.destination, message.source, message.packet}];
}
LiveMessage random_message(test::Random& random, NodeNumber from, NodeNumber nodes) {
  return {.destination = static_cast<NodeNumber>(random.below(nodes)),
          .source = from,
          .packet = static_cast<std::uint32_t>(random.below(LiveNetwork::packets))};
}

// CM-30: random loads by several threads, each of several nodes, one of whom swaps the network a thousand times at random moments.
TEST(Cm5LiveTree, KeepsAllUnderManyCarriersWhileItIsSwapped) {
  test::Random seeds(test::seed());
  for (const NodeNumber nodes : {2u, 7u, 16u, 64u}) {
    LiveNetwork net(nodes);
    constexpr unsigned threads = 4;
    std::array<Counts, threads> sent;
    test::load_by_threads(nodes, threads, 10'000, seeds,
                          [&](unsigned thread, NodeNumber from, int i, test::Random& random) {
                            if (thread == 0 && i % 10 == 0) net.swap();
                            const LiveMessage message = random_message(random, from, nodes);
                            if (net.tree().inject(from, message)) add(sent[thread], message);
                            if (!random.one_in(4)) net.tree().carry(from);
                            if (random.one_in(64)) net.tree().look_after();
                          });
    net.look_after(20);
    ASSERT_TRUE(net.is_empty());
    for (const Counts& mine : sent) expect_counted(net, mine);
  }
}

/// What a network is in, in which carriers are stopped.
enum class Is : std::uint8_t { thawed, frozen, just_thawed };
constexpr std::array all_states{Is::thawed, Is::frozen, Is::just_thawed};

/// Messages on their way through a tree of two levels; in one that was just thawed they are saved, and nobody has put them in again.
struct Scene {
  LiveNetwork net{7};
  Counts counts;
  explicit Scene(Is state) {
    for (const NodeNumber from : {0u, 1u, 4u}) {
      for (std::uint32_t packet = 0; packet < 2; ++packet)
        inject({.destination = packet == 0 ? from ^ 1 : 6 - from, .source = from, .packet = packet});
    }
    if (state == Is::thawed) return;
    EXPECT_TRUE(net.tree().freeze(1));
    if (state == Is::frozen) return;
    for (int i = 0; i < 8 && !net.tree().fall(); ++i) {
    }
    EXPECT_GT(net.in_memory(), 2u);
    net.thaw_and_die();
    inject({.destination = 5, .source = 0, .packet = 3});
  }
  void inject(const LiveMessage& message) {
    EXPECT_TRUE(net.tree().inject(message.source, message));
    add(counts, message);
  }
  void all_has_come(bool swaps) {
    net.tree().thaw(1);
    if (swaps) net.swap();
    net.look_after(20);
    EXPECT_TRUE(net.is_empty());
    for (NodeNumber from = 0; from < net.nodes(); ++from) {  // and all goes on
      for (int i = 0; i < 6; ++i) {
        const LiveMessage message{.destination = 6 - from, .source = from};
        EXPECT_TRUE(net.send(message));
        add(counts, message);
      }
    }
    expect_counted(net, counts);
  }
};

TEST(Cm5LiveTreeStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  for (const Is state : all_states) {
    for (const NodeNumber first : {0u, 4u}) {
      expect_others_go_on([&] { return std::make_unique<Scene>(state); },
                          [&](LiveNetwork& net) { return carrier(net, first); },
                          [](Scene& scene, unsigned at) { scene.all_has_come(at % 2 == 0); });
    }
  }
}

// The network is frozen or thawed in between.
TEST(Cm5LiveTreeStops, TwoWhoWereStoppedDoNoHarmEither) {
  test::Random random(test::seed());
  for (const Is state : all_states) {
    expect_two_do_no_harm([&] { return std::make_unique<Scene>(state); },
                          [](LiveNetwork& net) { return carrier(net, 0); },
                          [&](LiveNetwork& net) { return carrier(net, random.one_in(2) ? 0 : 4); },
                          [&](Scene& scene) {
                            LiveTree& tree = scene.net.tree();
                            if (random.one_in(2) && !tree.freeze(1)) tree.thaw(1);
                          },
                          [&](Scene& scene) { scene.all_has_come(random.one_in(2)); }, random);
  }
}

// More carriers than there is room for, and one who swaps the network. Nobody looks after it.
TEST(Cm5LiveTreeStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(7);
    Counts counts;
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < 10; ++i) {
      const NodeNumber from = i % 3;
      const LiveMessage message{.destination = i % 2 == 0 ? 6u : 2 - from, .source = from, .packet = i};
      all.emplace_back([&net, &counts, message, from](Steps::One& one) {
        if (net.tree().inject(from, message)) add(counts, {message.destination, from, 0, message.packet % 4});
        carrier(net, from)(one);
      });
    }
    test::finish_in_any_order(all, random, 2 + random.below(40), [&] {
      if (round % 2 == 0 && random.one_in(16)) net.swap();
    });
    EXPECT_TRUE(net.is_empty());
    expect_counted(net, counts);
    if (HasFailure()) return;
  }
}

}  // namespace cm5_live_tree_test
