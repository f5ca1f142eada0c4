// CARE's network live (Byrd, Nakano and Delagi 1987): many carriers at once, and carriers that are stopped, or killed, before any of their
// accesses to what they share. Each message is counted once at each of its targets, and nothing lies forgotten.
#include "emulated_hw/care/live_sites.hpp"

#include <numeric>

#include "emulated_hw/care/live_lists.hpp"
#include "unit/emulated_hw/kit/channels.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace care_live_sites_test {

using namespace am::care;
using namespace test;
namespace kit = am::kit;
using Counts = LiveCounts<Counted>;
using Targets = std::vector<NodeNumber>;

class LiveNetwork final : public LiveNetworkOf<LiveSites, Counted, kinds_of_counted> {
 public:
  explicit LiveNetwork(const LiveShape& shape) : LiveNetworkOf(shape.nodes(), shape) {
    for (NodeNumber node = 0; node < nodes_; ++node) lists_.emplace_back(mesh_, node, nodes_);
  }

  /// Lets it in; false where there is no room, or no list is free. `counts`: what is to come of it.
  [[nodiscard]] bool inject(NodeNumber from, Counted lane, const Targets& targets, Counts& counts) {
    LiveMessage message{.source = from, .lane = lane, .destination = targets.front()};
    if (!has_room(from, lane)) return false;
    if (targets.size() == 1) {
      lists_[from].is_sent(lane, targets.front());
    } else {
      const auto list = lists_[from].write(lane, targets);
      if (!list) return false;
      message = *list;
    }
    EXPECT_TRUE(mesh_.inject(from, message));
    for (const NodeNumber target : targets) ++counts[{target, from, lane}];
    return true;
  }
  [[nodiscard]] bool send(NodeNumber from, Counted lane, const Targets& targets, Counts& counts) {
    if (!inject(from, lane, targets, counts)) return false;
    mesh_.carry(from, {.lane = lane});
    return true;
  }
  struct Passed {
    std::uint64_t links = 0, splits = 0, aborts = 0, forced_stores = 0, retransmissions = 0;
  };
  [[nodiscard]] Passed passed() const {
    Passed all;
    for (NodeNumber node = 0; node < nodes_; ++node) {
      const LiveRouter& router = mesh_.router(node);
      for (unsigned input = 0; input < storage; ++input) all.links += router.inputs[input].flits;
      all.splits += router.decisions.splits;
      all.aborts += router.decisions.aborts;
      all.forced_stores += router.decisions.forced_stores;
      all.retransmissions += router.decisions.retransmissions;
    }
    return all;
  }
  /// Fills these channels of a router's links with what ends at the next router, and counts nowhere.
  void fill(NodeNumber at, Requests outputs) {
    for (unsigned output = 0; output < storage; ++output) {
      if (!mesh_.ways().is_of_a_link(output) || !kit::has(outputs, output)) continue;
      const kit::InputAt behind = mesh_.ways().behind(at, output);
      if (behind.router == kit::nowhere) continue;
      auto& channel = const_cast<kit::HeldChannel&>(mesh_.router(behind.router).inputs[behind.input]);
      while (channel.put(LiveMessage{.source = nodes_}.bits(), kit::HeldChannel::slots)) {
      }
    }
  }

  /// The channels of messages in order.
  [[nodiscard]] Requests in_order() const {
    Requests all = 0;
    for (unsigned output = 0; output < storage; ++output) {
      if (mesh_.ways().kind_of(output) != 0) all |= kit::request(output);
    }
    return all;
  }

 private:
  [[nodiscard]] bool has_room(NodeNumber from, Counted lane) const {
    return mesh_.router(from).inputs[injections + static_cast<unsigned>(lane)].has_room(
        kit::HeldChannel::slots);
  }
  std::deque<LiveLists> lists_;
};

constexpr LiveShape torus(unsigned rows, unsigned columns) { return {.extents = {rows, columns}}; }
constexpr LiveShape cube(unsigned dimensions) { return {.dimensions = dimensions, .is_cube = true}; }
const std::vector<LiveShape> shapes = {torus(1, 1), torus(1, 2), torus(2, 2), torus(5, 1),
                                       torus(4, 3), cube(0),     cube(1),     cube(4)};

unsigned hops(const LiveSites& sites, NodeNumber from, NodeNumber to) {
  const kit::Grid* const torus = sites.ways().torus();
  return torus != nullptr ? kit::distance(*torus, from, to) : static_cast<unsigned>(std::popcount(from ^ to));
}
Targets all_of(NodeNumber nodes) {
  Targets targets(nodes);
  std::iota(targets.begin(), targets.end(), 0);
  return targets;
}

TEST(CareLiveSites, CarryEachMessageToItsNodeByAClosestWay) {
  for (const LiveShape& shape : shapes) {
    LiveNetwork net(shape);
    Counts counts;
    std::uint64_t links = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (NodeNumber to = 0; to < net.nodes(); ++to) {
        for (unsigned lane = 0; lane < kinds_of_counted; ++lane) {
          for (int n = 1; n <= 9; ++n) {
            ASSERT_TRUE(net.send(from, static_cast<Counted>(lane), {to}, counts));
            links += hops(net.mesh(), from, to);
          }
        }
      }
    }
    EXPECT_TRUE(net.is_empty());
    expect_counted(net, counts);
    EXPECT_EQ(net.passed().links, links);
  }
}

// Its sender need not come by again.
TEST(CareLiveSites, CarryAMessageAllOfTheLongestWayAtOnce) {
  LiveNetwork net(torus(1, kit::most_live_nodes));
  Counts counts;
  ASSERT_TRUE(net.send(0, Counted::low, {kit::most_live_nodes / 2}, counts));
  ASSERT_TRUE(net.send(1, Counted::high, {300, 511, 700}, counts));
  EXPECT_TRUE(net.is_empty());
  expect_counted(net, counts);
}

// CA-22: a tree, so one link for each router that is reached; and by the same lists again and again.
TEST(CareLiveSites, SplitMessagesWhereWaysPart) {
  for (const LiveShape& shape : {torus(1, 12), torus(3, 5), torus(2, 2), cube(3)}) {
    LiveNetwork net(shape);
    Counts counts;
    const Targets targets = all_of(net.nodes());
    std::uint64_t messages = 0;
    for (NodeNumber from = 0; from < net.nodes(); ++from) {
      for (int i = 0; i < 40; ++i, ++messages)
        ASSERT_TRUE(net.send(from, i % 2 == 0 ? Counted::low : Counted::high, targets, counts));
    }
    expect_counted(net, counts);
    const auto passed = net.passed();
    EXPECT_EQ(passed.links, messages * (net.nodes() - 1));
    EXPECT_GE(passed.splits, messages);
    EXPECT_EQ(passed.aborts + passed.forced_stores + passed.retransmissions, 0u);
  }
}

// A list is written anew when all have what was sent with it, and, before editions come again, when no router holds it.
TEST(CareLiveSites, HaveAFewListsUnderWay) {
  LiveNetwork net(torus(2, 2));
  Counts counts;
  for (unsigned i = 0; i < lists_of_lane; ++i) ASSERT_TRUE(net.inject(0, Counted::low, {1, 2, 3}, counts));
  EXPECT_FALSE(net.inject(0, Counted::low, {1, 2}, counts));
  net.mesh().carry(0, {});
  for (unsigned i = 0; i < 3 * editions; ++i) ASSERT_TRUE(net.send(0, Counted::low, {1, 2}, counts));
  // A carrier is killed when it has entered the last end, before its packet leaves.
  ASSERT_TRUE(net.inject(0, Counted::low, {0, 1}, counts));
  const auto has_come = [&] {
    return net.count(1, 0, Counted::low) == counts[{1, 0, Counted::low}] &&
           net.count(0, 0, Counted::low) == counts[{0, 0, Counted::low}];
  };
  Steps::One one(carrier_of(net, 0, kit::request(injections)));
  while (net.count(0, 0, Counted::low) == 0) ASSERT_TRUE(one.go(1));
  one.kill();
  LiveSites::Carrier<>(net.mesh()).run(1, kit::request(storage) - 1, 200);
  ASSERT_TRUE(has_come()) << "all targets have it";
  ASSERT_FALSE(net.mesh().has_gone(0)) << "and it lies there still";
  unsigned written = 0;
  while (net.inject(0, Counted::low, {2, 3}, counts) && written <= lists_of_lane) {
    ++written;
    LiveSites::Carrier<>(net.mesh()).run(0, kit::request(injections), 200);
  }
  EXPECT_GT(written, 0u);
  net.look_after(24);
  EXPECT_TRUE(net.is_empty());
  expect_counted(net, counts);
}

// CA-14, CA-16: the branch that has no room is aborted, and sent again by the site that has kept a copy; where it can keep none, all wait.
TEST(CareLiveSites, KeepACopyForBranchesThatHaveNoRoom) {
  LiveNetwork net(torus(1, 5));
  Counts counts;
  net.fill(0, kit::request(net.mesh().ways().in_order(0, 1)));
  const Requests its = kit::request(injections);
  const auto step = [&] { LiveSites::Carrier<>(net.mesh()).run(0, its, 1); };
  for (std::uint64_t n = 1; n <= kit::HeldChannel::slots; ++n) {
    ASSERT_TRUE(net.inject(0, Counted::low, {1, 4}, counts));
    step();
    EXPECT_EQ(net.passed().aborts, n);
    EXPECT_EQ(net.passed().links, n) << "by the way that has room";
    EXPECT_TRUE(net.mesh().has_gone(0));
  }
  ASSERT_FALSE(net.inject(0, Counted::low, {1, 4}, counts)) << "all lists are under way";
  ASSERT_TRUE(net.inject(0, Counted::high, {1, 4}, counts));
  LiveSites::Carrier<>(net.mesh()).run(0, its << 1, 1);
  EXPECT_FALSE(net.mesh().has_gone(0)) << "no room for a copy";
  net.look_after(24);
  EXPECT_TRUE(net.is_empty());
  expect_counted(net, counts);
  EXPECT_EQ(net.passed().retransmissions, net.passed().aborts);
}

// CA-17: where no way has room, it is stored, or waits.
TEST(CareLiveSites, StoreMessagesInNoOrderThatFindNoWay) {
  LiveNetwork net(torus(3, 3));
  Counts counts;
  net.fill(0, ~Requests{0});
  const Requests its = kit::request(injections + 2);
  for (unsigned i = 0; i < kit::HeldChannel::slots + 1; ++i) {
    ASSERT_TRUE(net.inject(0, Counted::low_unordered, {4}, counts));
    LiveSites::Carrier<>(net.mesh()).run(0, its, 1);
  }
  EXPECT_EQ(net.passed().forced_stores, kit::HeldChannel::slots);
  EXPECT_FALSE(net.mesh().has_gone(0)) << "the last one waits";
  net.look_after(24);
  EXPECT_TRUE(net.is_empty());
  expect_counted(net, counts);
  EXPECT_EQ(net.passed().retransmissions, net.passed().forced_stores);
}

// am::unordered: whoever goes by any way passes what stands still on the one way of those in order.
TEST(CareLiveSites, LetMessagesInNoOrderOvertake) {
  for (const LiveShape& shape : {torus(3, 3), cube(3)}) {
    LiveNetwork net(shape);
    Counts counts;
    net.fill(0, net.in_order());
    ASSERT_TRUE(net.send(0, Counted::low, {4}, counts));
    // Those that fill the channels are not looked after: carry() goes where it has something to do.
    ASSERT_TRUE(net.send(0, Counted::low_unordered, {4}, counts));
    EXPECT_EQ(net.count(4, 0, Counted::low_unordered), 1u);
    EXPECT_EQ(net.count(4, 0, Counted::low), 0u);
    net.look_after(40);
    expect_counted(net, counts);
  }
}

// No circle of channels, whatever copies take others with them over an edge.
TEST(CareLiveSites, HaveNoCircleOfChannelsInOrder) {
  using Channel = kit::test_channels::Channel;
  for (const LiveShape& shape : {torus(5, 4), torus(1, 7), cube(4)}) {
    const LiveWays ways(shape);
    kit::test_channels::Waits waits;
    for (NodeNumber from = 0; from < shape.nodes(); ++from) {
      for (NodeNumber to = 0; to < shape.nodes(); ++to) {
        std::optional<Channel> before;
        for (NodeNumber at = from; at != to;) {
          const unsigned way = ways.in_order(at, to);
          const NodeNumber next = ways.behind(at, way).router;
          if (next != to) {
            // As it goes alone, or with a copy that passes the edge.
            for (const unsigned held : {way, way - 1}) {
              if (ways.goes_with(way, kit::request(held)))
                waits[{at, held, 0}].insert({next, ways.in_order(next, to), 0});
            }
          }
          at = next;
        }
      }
    }
    EXPECT_FALSE(kit::test_channels::has_circle(waits));
  }
}

TEST(CareLiveSites, GoOnWhateverAnotherScribblesThere) {
  goes_on_whatever_another_scribbles(
      2'000, 12, [](Random& random) { return LiveNetwork(shapes[1 + random.below(2)]); },
      [](LiveNetwork& net, Random& random, NodeNumber from) {
        const auto lane = static_cast<Counted>(random.below(2));
        if (net.mesh().inject(from, {.source = from, .lane = lane, .targets = 3}) && random.one_in(2))
          net.mesh().carry(from, {.lane = lane});
      });
}

Targets some_of(NodeNumber nodes, Random& random) {
  Targets targets = all_of(nodes);
  std::erase_if(targets, [&](NodeNumber) { return random.one_in(2); });
  if (targets.size() > most_targets) targets.resize(most_targets);
  if (targets.empty()) targets.push_back(static_cast<NodeNumber>(random.below(nodes)));
  return targets;
}

TEST(CareLiveSites, KeepAllUnderManyCarriers) {
  Random seeds(seed());
  for (const LiveShape& shape : {torus(1, 4), torus(3, 3), cube(3)}) {
    LiveNetwork net(shape);
    keeps_all_under_many_carriers<Counts>(net, seeds, [&](Random& random, NodeNumber from, Counts& sent) {
      const auto lane = static_cast<Counted>(random.below(kinds_of_counted));
      const Targets targets = is_ordered(lane) ? some_of(net.nodes(), random)
                                               : Targets{static_cast<NodeNumber>(random.below(net.nodes()))};
      static_cast<void>(net.inject(from, lane, targets, sent));
      if (!random.one_in(4)) net.mesh().carry(from, {.lane = lane});
    });
    const auto passed = net.passed();
    EXPECT_EQ(passed.retransmissions, passed.aborts + passed.forced_stores);
  }
}

/// Lists whose ways part, messages in no order, and some that wait, on each substrate.
template <bool is_cube>
struct Scene {
  LiveNetwork net{is_cube ? cube(2) : torus(1, 4)};
  Counts counts;
  Scene() {
    net.fill(1, ~Requests{0});
    for (const NodeNumber from : {0u, 1u}) {
      EXPECT_TRUE(net.inject(from, Counted::low, {0, 1, 2, 3}, counts));
      EXPECT_TRUE(net.inject(from, Counted::low, {2}, counts));
      EXPECT_TRUE(net.inject(from, Counted::high, {1, 3}, counts));
      EXPECT_TRUE(net.inject(from, Counted::low_unordered, {3 - from}, counts));
    }
  }
  static auto carrier(LiveNetwork& net, NodeNumber first) {
    return carrier_of(net, first, kit::request(live_channels) - 1, 400);
  }
  void all_has_come() {
    expect_that_it_goes_on(net, counts,
                           [&](NodeNumber from) { return net.send(from, Counted::low, all_of(4), counts); });
  }
};
template <class S>
class CareLiveSitesStops : public testing::Test {};
using Scenes = testing::Types<Scene<false>, Scene<true>>;
TYPED_TEST_SUITE(CareLiveSitesStops, Scenes);

TYPED_TEST(CareLiveSitesStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  goes_on_without_a_carrier<TypeParam>({0, 1});
}
TYPED_TEST(CareLiveSitesStops, TwoWhoWereStoppedDoNoHarmEither) {
  goes_on_without_two_carriers<TypeParam>({0, 1});
}
TYPED_TEST(CareLiveSitesStops, AnyOrderOfFourCarriersIsAsGood) {
  any_order_is_as_good<TypeParam>({0, 1, 2, 3}, 100);
  TypeParam scene;
  scene.all_has_come();
  const auto passed = scene.net.passed();
  EXPECT_GT(passed.aborts, 0u);
  EXPECT_GT(passed.forced_stores, 0u);
  EXPECT_EQ(passed.retransmissions, passed.aborts + passed.forced_stores);
}

/// One input has a step at a router.
void step(LiveNetwork& net, NodeNumber at, Requests inputs) {
  LiveSites::Carrier<>(net.mesh()).run(at, inputs, 1);
}
void expect_all_come(LiveNetwork& net, const Counts& counts) {
  for (int i = 0; i < 20'000 && !net.is_empty(); ++i) net.mesh().look_after();
  EXPECT_TRUE(net.is_empty());
  for (const auto& [which, count] : counts) {
    const auto& [to, from, lane] = which;
    EXPECT_EQ(net.count(to, from, lane), count) << "at " << to << " from " << from;
  }
}

/// Later messages pass a kept copy, and are counted before it.
TEST(CareLiveSites, UseAListAgainWhenNoCopyIsLeft) {
  LiveNetwork net(torus(2, 2));
  Counts counts;
  const Requests own = kit::request(injections);
  const Requests links = kit::request(storage) - 1;
  const auto send = [&](const Targets& targets, int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(net.inject(0, Counted::low, targets, counts));
      step(net, 0, own);
    }
  };
  const auto take = [&](NodeNumber at, int times) {
    for (int i = 0; i < times; ++i) step(net, at, links);
  };
  send({1}, 4);
  send({2}, 4);
  send({1, 2}, 1);
  EXPECT_EQ(net.passed().forced_stores, 1u);
  take(1, 1);
  send({1}, 1);
  take(1, 13);
  send({1}, 4);
  take(2, 8);
  send({2}, 1);
  take(2, 8);
  static_cast<void>(net.inject(0, Counted::low, {1, 2}, counts));
  expect_all_come(net, counts);
}

/// Wherever carriers are killed; also where a router favours a message, for which others keep out of its channels.
TEST(CareLiveSites, LoseNothingAndGoOnWhereverCarriersAreKilled) {
  Random random(seed());
  const Requests own = kit::request(injections) * 15;
  for (int round = 0; round < 300; ++round) {
    const unsigned lanes = round % 3 == 0 ? 2 : 4;
    LiveNetwork net(std::vector{torus(2, 2), torus(3, 2), cube(3), torus(4, 1)}.at(random.below(4)));
    Counts counts;
    const auto carry = [&](NodeNumber at, Requests inputs, std::uint64_t accesses, int steps) {
      const auto is_over = [&] { return accesses-- == 0; };
      try {
        LiveSites::Carrier<EndsWhen<decltype(is_over)>>(net.mesh(), {is_over}).run(at, inputs, steps);
      } catch (const Steps::Killed&) {
      }
    };
    for (auto left = 200 + random.below(400); left != 0; --left) {
      const auto from = static_cast<NodeNumber>(random.below(net.nodes()));
      for (auto messages = random.below(8); messages != 0; --messages) {
        const auto lane = static_cast<Counted>(random.below(lanes));
        Targets targets;
        if (is_ordered(lane) && !random.one_in(4)) {
          for (NodeNumber node = 0; node < net.nodes(); ++node)
            if (random.one_in(3)) targets.push_back(node);
        }
        if (targets.empty()) targets = {static_cast<NodeNumber>(random.below(net.nodes()))};
        static_cast<void>(net.inject(from, lane, targets, counts));
      }
      if (random.below(8) < 5) {
        carry(from, own, random.below(120), 256);
      } else {
        for (auto steps = random.below(24); steps != 0; --steps)
          carry(from, own | kit::request(storage), 20 + random.below(60), 1);
      }
    }
    expect_all_come(net, counts);
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
}

}  // namespace care_live_sites_test
