// What holds of live networks whose carriers move whatever lies in a router: many at once, and ones that are stopped, or killed.
//
// `Net` is a LiveNetworkOf. A `Scene` has messages on their way through `net`: carrier(net, first) is a program that moves what there is,
// beginning at that router; all_has_come() does all that is left, and checks.
#pragma once

#include "support/steps.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

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

/// Moves what it can, beginning with these inputs of a router, in so many steps.
template <class Net>
auto carrier_of(Net& net, NodeNumber first, am::kit::Requests inputs, unsigned steps = 200) {
  using Mesh = std::remove_reference_t<decltype(net.mesh())>;
  return [&net, first, inputs, steps](Steps::One& one) {
    typename Mesh::template Carrier<Stops>(net.mesh(), Stops{&one}).run(first, inputs, steps);
  };
}

/// All that is left comes, and all goes on: send(from) lets one in there, carries it, and adds it to `counts`.
template <class Net, class Counts, class Send>
void expect_that_it_goes_on(Net& net, const Counts& counts, Send send) {
  net.look_after(32);
  EXPECT_TRUE(net.is_empty());
  for (NodeNumber from = 0; from < net.nodes(); ++from) {
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(send(from));
  }
  expect_counted(net, counts);
}

/// What another has scribbled over routers leads nowhere, and keeps no carrier for ever. In so many networks that make(random) makes a node
/// does something, so many times: send(net, random, from).
template <class Make, class Send>
void goes_on_whatever_another_scribbles(int rounds, int times, Make make, Send send) {
  Random random(seed());
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    auto net = make(random);
    for (int i = 0; i < times; ++i) {
      send(net, random, static_cast<NodeNumber>(random.below(net.nodes())));
      net.scribble(random);
      net.look_after(1);
    }
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
  net.look_after(40);
  ASSERT_TRUE(net.is_empty());
  std::uint64_t all = 0;
  for (const Counts& mine : sent) {
    expect_counted(net, mine);
    for (const auto& [link, count] : mine) all += count;
  }
  EXPECT_GT(all, 1'000u);
}

/// One is stopped or killed before each of its accesses in a scene that make() makes. carrier(net) is its program; `come(scene, at)`, what
/// others do then.
template <class Make, class CarrierOf, class Come>
void expect_others_go_on(Make make, CarrierOf carrier, Come come) {
  for (const bool killed : {false, true}) {
    SCOPED_TRACE(killed ? "killed" : "goes on later");
    unsigned rounds = 0;
    at_each_access([&](unsigned at, bool& ended) {
      ++rounds;
      auto scene = make();
      Steps::One one(carrier(scene->net));
      ended = !one.go(at);
      if (killed) one.kill();
      come(*scene, at);
      const std::uint64_t counted = scene->net.count_of_all();
      one.finish();
      EXPECT_TRUE(scene->net.is_empty());
      EXPECT_EQ(scene->net.count_of_all(), counted) << "who goes on later does no harm";
    });
    EXPECT_GT(rounds, 10u) << "it has something to carry";
  }
}

/// Two are stopped, one after the other, anywhere; others do all; then they go on in either order, or one is killed. `other(net)` may be
/// another program each time; `between(scene)` is done when the first has been stopped.
template <class Make, class CarrierOf, class OtherOf, class Between, class Come>
void expect_two_do_no_harm(Make make, CarrierOf carrier, OtherOf other, Between between, Come come,
                           Random& random) {
  const unsigned all = [&] {
    auto scene = make();
    return accesses_of(carrier(scene->net));
  }();
  ASSERT_GT(all, 50u);
  at_some_two_accesses(all, all, 64, random, [&](unsigned at, unsigned other_at) {
    auto scene = make();
    Steps::One a(carrier(scene->net));
    Steps::One b(other(scene->net));
    a.go(at);
    between(*scene);
    b.go(other_at);
    finish_somehow(a, b, random, [&] { come(*scene); });
    EXPECT_TRUE(scene->net.is_empty());
  });
}

/// One is stopped or killed before each of its accesses.
template <class Scene>
void goes_on_without_a_carrier(const std::vector<NodeNumber>& firsts) {
  for (const NodeNumber first : firsts)
    expect_others_go_on([] { return std::make_unique<Scene>(); },
                        [&](auto& net) { return Scene::carrier(net, first); },
                        [](Scene& scene, unsigned) { scene.all_has_come(); });
}
/// Two are: one that begins at the first of these routers, and one that begins at any of them.
template <class Scene>
void goes_on_without_two_carriers(const std::vector<NodeNumber>& routers) {
  Random random(seed());
  expect_two_do_no_harm([] { return std::make_unique<Scene>(); },
                        [&](auto& net) { return Scene::carrier(net, routers.front()); },
                        [&](auto& net) { return Scene::carrier(net, routers[random.below(routers.size())]); },
                        [](Scene&) {}, [](Scene& scene) { scene.all_has_come(); }, random);
}

/// More than carriers can remember, or may do in one go, is left to others. Scene::carrier(net, first, steps): in so many.
template <class Scene>
void what_is_given_up_is_left_to_others(const std::vector<NodeNumber>& firsts) {
  for (unsigned steps = 0; steps < 12 && !testing::Test::HasFailure(); ++steps) {
    Scene scene;
    for (const NodeNumber first : firsts) Steps::One(Scene::carrier(scene.net, first, steps)).finish();
    scene.all_has_come();
  }
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
