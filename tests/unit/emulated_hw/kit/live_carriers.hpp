// What holds of live networks whose carriers move whatever lies in a router: many at once, and ones that are stopped, or killed.
//
// `Net` is a LiveNetworkOf. A `Scene` has messages on their way through `net`: carrier(net, first) is a program that moves what there is,
// beginning at that router; all_has_come() does all that is left, and checks.
#pragma once

#include "unit/emulated_hw/kit/live_network.hpp"
#include "unit/emulated_hw/kit/live_stops.hpp"

namespace test {

using am::kit::NodeNumber;

/// How many of which kind a node has of another one: at, from, what.
template <class Counted>
using LiveCounts = std::map<std::tuple<NodeNumber, NodeNumber, Counted>, std::uint64_t>;
template <class Net, class Counted>
void expect_counted(Net& net, const LiveCounts<Counted>& counts) {
  for (const auto& [link, count] : counts) {
    const auto& [to, from, what] = link;
    EXPECT_EQ(net.count(to, from, what), count) << from << " to " << to;
  }
}

/// Several threads, each of several nodes: send(random, from, counts), many times. All is counted, and nothing is left when all have stopped.
template <class Counts, class Net, class Send>
void keeps_all_under_many_carriers(Net& net, Random& seeds, Send send) {
  constexpr unsigned threads = 4;
  std::array<Counts, threads> sent;
  load_by_threads(net.nodes(), threads, 15'000, seeds,
                  [&](unsigned thread, NodeNumber from, int, Random& random) {
                    send(random, from, sent[thread]);
                    if (random.one_in(64)) net.mesh().look_after();
                  });
  for (int i = 0; i < 40; ++i) net.mesh().look_after();
  ASSERT_TRUE(net.is_empty());
  for (const Counts& mine : sent) expect_counted(net, mine);
}

/// One is stopped or killed before each of its accesses.
template <class Scene>
void goes_on_without_a_carrier(const std::vector<NodeNumber>& firsts) {
  for (const NodeNumber first : firsts)
    expect_others_go_on([] { return std::make_unique<Scene>(); },
                        [&](auto& net) { return Scene::carrier(net, first); },
                        [](Scene& scene, unsigned) { scene.all_has_come(); });
}
/// Two are, of which the other begins at any of two routers.
template <class Scene>
void goes_on_without_two_carriers(NodeNumber first, NodeNumber second) {
  Random random(seed());
  expect_two_do_no_harm([] { return std::make_unique<Scene>(); },
                        [&](auto& net) { return Scene::carrier(net, first); },
                        [&](auto& net) { return Scene::carrier(net, random.one_in(2) ? first : second); },
                        [](Scene&) {}, [](Scene& scene) { scene.all_has_come(); }, random);
}

/// Carriers that begin there go on in any order, and leave nothing.
template <class Scene>
void any_order_is_as_good(const std::vector<NodeNumber>& firsts, int rounds) {
  Random random(seed());
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    Scene scene;
    std::deque<Steps::One> all;
    for (const NodeNumber first : firsts) all.emplace_back(Scene::carrier(scene.net, first));
    finish_in_any_order(all, random, 4);
    EXPECT_TRUE(scene.net.is_empty()) << "nobody looks after it";
    scene.all_has_come();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace test
