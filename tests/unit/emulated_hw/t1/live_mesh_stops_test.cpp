// The CNS-1's network live: carriers that are stopped, or killed, before any of their accesses to what they share, while others go on.
// Each message is counted once, in order, and nothing lies forgotten.
#include "emulated_hw/t1/live_mesh.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "live_network.hpp"
#include "support/random.hpp"
#include "support/steps.hpp"

namespace t1_live_mesh_stops_test {

using namespace am::t1;
using test::LiveNetwork;
using test::Steps;
using test::Stops;

constexpr auto low = Priority::low;
constexpr auto high = Priority::high;

constexpr am::kit::Requests injected = am::kit::request(channel(0, low, 0));

/// Messages of every kind are on their way through a ring of three; carriers move them.
struct Scene {
  LiveNetwork net{{.rows = 1, .columns = 3}};
  Scene() {
    EXPECT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
    EXPECT_TRUE(net.mesh().inject(0, low, {.destination = 0, .source = 0, .multicast = true}));
    EXPECT_TRUE(
        net.mesh().inject(0, low, {.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 9}));
    EXPECT_TRUE(net.mesh().inject(2, low, {.destination = 1, .source = 2}));
    EXPECT_TRUE(net.mesh().inject(2, low, {.destination = 1, .source = 2, .who = For::store}));
    EXPECT_TRUE(
        net.mesh().inject(2, low, {.destination = 1, .source = 2, .who = For::fetch, .answer_flits = 2}));
  }
  std::function<void(Steps::One&)> carrier(NodeNumber first) {
    return
        [this, first](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(first, injected, 100); };
  }
  void all_has_come() {
    for (int i = 0; i < 16; ++i) net.mesh().look_after();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 2u);
    EXPECT_EQ(net.count(2, 0, low), 1u);
    EXPECT_EQ(net.count(0, 0, low), 1u);
    EXPECT_EQ(net.count(1, 2, low), 1u);
    EXPECT_EQ(net.count(1, 2, Counted::stored), 1u);
    EXPECT_EQ(net.count(0, 1, Counted::answered), 1u);
    EXPECT_EQ(net.count(2, 1, Counted::answered), 1u);
    EXPECT_GE(net.told(), 8u);
    // and all goes on
    for (NodeNumber from = 0; from < 3; ++from) {
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(net.mesh().inject(from, low, {.destination = (from + 1) % 3, .source = from}));
        net.mesh().carry(from, low);
      }
      EXPECT_EQ(net.count((from + 1) % 3, from, low), from == 0 ? 8u : 6u) << from;
    }
  }
};

/// How many accesses a carrier makes that nobody disturbs.
unsigned accesses_of(NodeNumber first) {
  Scene scene;
  return test::accesses_of(scene.carrier(first));
}

TEST(LiveMeshStops, AnotherGoesOnWhereACarrierWasKilled) {
  const unsigned all = accesses_of(0);
  ASSERT_GT(all, 50u);
  for (unsigned at = 0; at <= all; ++at) {
    SCOPED_TRACE(at);
    Scene scene;
    Steps::One one(scene.carrier(0));
    if (at != 0) one.go(at);
    one.kill();
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

TEST(LiveMeshStops, WhoWasStoppedAndGoesOnLaterDoesNoHarm) {
  const unsigned all = accesses_of(0);
  for (unsigned at = 1; at <= all; ++at) {
    SCOPED_TRACE(at);
    Scene scene;
    Steps::One one(scene.carrier(0));
    one.go(at);
    scene.all_has_come();
    one.finish();
    EXPECT_TRUE(scene.net.is_empty());
    EXPECT_EQ(scene.net.count(1, 0, low), 8u);
    if (HasFailure()) return;
  }
}

// Two are stopped, one after the other, anywhere; a third does all; then they go on in either order, or one is killed.
TEST(LiveMeshStops, TwoWhoWereStoppedDoNoHarmEither) {
  const unsigned all = accesses_of(0);
  test::Random random(test::seed());
  for (unsigned at = 1; at <= all; ++at) {
    for (unsigned other = 1; other <= all; other += 1 + static_cast<unsigned>(random.below(16))) {
      SCOPED_TRACE(at);
      SCOPED_TRACE(other);
      Scene scene;
      Steps::One a(scene.carrier(0));
      Steps::One b(scene.carrier(random.one_in(2) ? 0 : 2));
      a.go(at);
      b.go(other);
      test::finish_somehow(a, b, random, [&] { scene.all_has_come(); });
      EXPECT_TRUE(scene.net.is_empty());
      if (HasFailure()) return;
    }
  }
}

TEST(LiveMeshStops, AnyOrderOfThreeCarriersIsAsGood) {
  test::Random random(test::seed());
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    Scene scene;
    std::deque<Steps::One> all;
    for (const NodeNumber first : {0u, 2u, 1u}) all.emplace_back(scene.carrier(first));
    test::finish_in_any_order(all, random, 4);
    EXPECT_TRUE(scene.net.is_empty()) << "nobody looks after it";
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

// More carriers than a channel has places, each with a message over the same link, or into the interface's own channel: some find no
// room. Nobody looks after them.
TEST(LiveMeshStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  std::uint64_t refused = 0;
  std::uint64_t unanswered = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net({.rows = 1, .columns = 2, .wraps = false});
    constexpr unsigned carriers = 9;
    unsigned accepted = 0;
    const bool fetches = round % 2 == 1;
    const Carried message{
        .destination = 1, .source = 0, .who = fetches ? For::fetch : For::processor, .answer_flits = 3};
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < carriers; ++i) {
      all.emplace_back([&](Steps::One& one) {
        if (net.mesh().inject(0, low, message)) ++accepted;
        Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100);
      });
    }
    test::finish_in_any_order(all, random, 2 + random.below(40));
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(fetches ? net.count(0, 1, Counted::answered) : net.count(1, 0, low), accepted);
    for (unsigned input = 0; input < channels; ++input) {
      refused += net.mesh().router(0).inputs[input].refused;
      unanswered += net.mesh().router(1).inputs[input].refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(unanswered, 10u);
}

// It finds no room, and is stopped anywhere; meanwhile there is room again, and whoever has made it goes.
TEST(LiveMeshStops, WhoFindsNoRoomHearsOfIt) {
  bool ended = false;
  for (unsigned at = 1; !ended; ++at) {
    SCOPED_TRACE(at);
    LiveNetwork net({.rows = 1, .columns = 2, .wraps = false});
    const LiveRouter& first = net.mesh().router(0);
    const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
    for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
      ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
      Steps::One killed(
          [&](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100); });
      while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1)
        ASSERT_TRUE(killed.go(1));
    }
    ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
    Steps::One one([&](Steps::One& it) { Carrier<Stops>(net.mesh(), Stops{&it}).run(0, injected, 100); });
    ended = !one.go(at);
    Carrier<>(net.mesh()).run(1, ~am::kit::Requests{0}, 100);
    one.finish();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 5u);
    if (HasFailure()) return;
  }
}

// A fetch finds no room for its answer, and is stopped anywhere; meanwhile there is room again, and whoever has made it goes.
TEST(LiveMeshStops, WhoCannotBeAnsweredHearsOfIt) {
  const Carried fetch{.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 3};
  constexpr am::kit::Requests answering = am::kit::request(answers);
  bool ended = false;
  for (unsigned at = 1; !ended; ++at) {
    SCOPED_TRACE(at);
    LiveNetwork net({.rows = 1, .columns = 2, .wraps = false});
    const LiveRouter& second = net.mesh().router(1);
    const unsigned link = channel(am::kit::Grid::down(0), low, 0);
    for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
      ASSERT_TRUE(net.mesh().inject(0, low, fetch));
      Steps::One killed(
          [&](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(0, injected, 100); });
      while (am::kit::Entry{second.inputs[answers].entries}.count() != i + 1 ||
             second.inputs[link].left != i + 1)
        ASSERT_TRUE(killed.go(1));
    }
    ASSERT_TRUE(net.mesh().inject(0, low, fetch));
    Steps::One one([&](Steps::One& it) { Carrier<Stops>(net.mesh(), Stops{&it}).run(0, injected, 100); });
    ended = !one.go(at);
    Carrier<>(net.mesh()).run(1, answering, 100);
    one.finish();
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(0, 1, Counted::answered), 5u);
    if (HasFailure()) return;
  }
}

// A mark is taken back at the very moment when somebody else relies on it; nobody looks after anything.
TEST(LiveMeshStops, WhoTakesAMarkBackLooksForWhoReliedOnIt) {
  LiveNetwork net({.rows = 1, .columns = 2, .wraps = false});
  const Carried message{.destination = 1, .source = 0};
  const LiveRouter& first = net.mesh().router(0);
  const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
  const auto carrier = [&](am::kit::Requests inputs, unsigned steps) {
    return [&net, inputs, steps](Steps::One& one) {
      Carrier<Stops>(net.mesh(), Stops{&one}).run(0, inputs, steps);
    };
  };
  // The link is full of packets whose carriers are stopped.
  std::deque<Steps::One> holders;
  for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
    ASSERT_TRUE(net.mesh().inject(0, low, message));
    Steps::One& holder = holders.emplace_back(carrier(injected, 100));
    do {
      ASSERT_TRUE(holder.go(1));
    } while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1);
  }
  Steps::One(carrier(injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  Steps::One finds_nothing(carrier(0, 100));
  ASSERT_TRUE(
      finds_nothing.go(1 + 1 + 2));  // the marks, what has left, the place: it is about to take the mark back
  ASSERT_TRUE(net.mesh().inject(0, low, message));
  Steps::One(carrier(injected, 100)).finish();  // no room; the mark stands already
  while (first.waiting.load() != 0) ASSERT_TRUE(finds_nothing.go(1));
  for (Steps::One& holder : holders) holder.finish();
  finds_nothing.finish();
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
}

// One finds nothing where a mark stands, and moves another packet; meanwhile one has come there that finds no room, and then there is.
TEST(LiveMeshStops, WhatComesWhileAnotherMovesIsNotForgotten) {
  LiveNetwork net({.rows = 1, .columns = 2, .wraps = false});
  const Carried message{.destination = 1, .source = 0};
  constexpr am::kit::Requests injected_high = am::kit::request(channel(0, high, 0));
  const LiveRouter& first = net.mesh().router(0);
  const am::kit::LiveChannel& link = net.mesh().router(1).inputs[channel(am::kit::Grid::down(0), low, 0)];
  const auto carrier = [&](am::kit::Requests inputs, unsigned steps) {
    return [&net, inputs, steps](Steps::One& one) {
      Carrier<Stops>(net.mesh(), Stops{&one}).run(0, inputs, steps);
    };
  };
  std::deque<Steps::One> holders;
  for (unsigned i = 0; i < am::kit::LiveChannel::places; ++i) {
    ASSERT_TRUE(net.mesh().inject(0, low, message));
    Steps::One& holder = holders.emplace_back(carrier(injected, 100));
    do {
      ASSERT_TRUE(holder.go(1));
    } while (am::kit::Entry{link.entries}.count() != i + 1 || first.inputs[0].left != i + 1);
    ASSERT_TRUE(holder.go(3));  // has looked what is next here, and goes on to the next router
  }
  Steps::One(carrier(injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_TRUE(net.mesh().inject(0, high, {.destination = 0, .source = 0}));
  Steps::One moves(carrier(injected_high, 100));
  ASSERT_TRUE(moves.go(1 + 1 + 2 + 2));  // the marks, both firsts: it is about to take the mark of low back
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_EQ(net.count(0, 0, high), 0u);
  ASSERT_TRUE(net.mesh().inject(0, low, message));
  Steps::One(carrier(injected, 100)).finish();  // no room; the mark stands already
  ASSERT_TRUE(moves.go(1));
  ASSERT_EQ(first.waiting.load(), 0u);
  for (Steps::One& holder : holders) holder.finish();
  moves.finish();
  EXPECT_EQ(net.count(0, 0, high), 1u);
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
  EXPECT_EQ(first.waiting.load(), 0u);
}

// One is killed on the way, another when it looks after routers: whatever it was about to forget.
TEST(LiveMeshStops, IsFoundAlsoWhenWhoLooksAfterItIsKilled) {
  const unsigned all = accesses_of(0);
  test::Random random(test::seed());
  const auto look_after_all = [](Scene& scene) {
    return [&scene](Steps::One& one) {
      for (NodeNumber node = 0; node < 3; ++node)
        Carrier<Stops>(scene.net.mesh(), Stops{&one}).look_after(node, true, 100);
    };
  };
  for (unsigned at = 1; at <= all; ++at) {
    for (unsigned other = 1; other <= 400; other += 1 + static_cast<unsigned>(random.below(60))) {
      SCOPED_TRACE(at);
      SCOPED_TRACE(other);
      Scene scene;
      Steps::One carrier(scene.carrier(0));
      carrier.go(at);
      Steps::One looks(look_after_all(scene));
      looks.go(other);
      carrier.kill();
      looks.kill();
      scene.all_has_come();
      if (HasFailure()) return;
    }
  }
}

// Two are killed, one after the other, with messages that come to the same node by two inputs and are counted together; a third needs the
// channel into which the second has let its message: it has to bring on that one, and for this the first one.
TEST(LiveMeshStops, WhoComesNextBringsOnWhatIsInItsWay) {
  const auto carrier = [](LiveNetwork& net, NodeNumber first) {
    return
        [&net, first](Steps::One& one) { Carrier<Stops>(net.mesh(), Stops{&one}).run(first, injected, 100); };
  };
  const Carried round{.destination = 0, .source = 0, .multicast = true};
  bool first_ended = false;
  for (unsigned first_at = 1; !first_ended; ++first_at) {
    bool second_ended = false;
    for (unsigned second_at = 1; !second_ended; ++second_at) {
      SCOPED_TRACE(first_at);
      SCOPED_TRACE(second_at);
      LiveNetwork net({.rows = 1, .columns = 3});
      ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
      Steps::One first(carrier(net, 0));
      first_ended = !first.go(first_at);
      ASSERT_TRUE(net.mesh().inject(0, low, round));
      Steps::One second(carrier(net, 0));
      second_ended = !second.go(second_at);
      first.kill();
      second.kill();
      ASSERT_TRUE(net.mesh().inject(1, low, {.destination = 1, .source = 1, .multicast = true}));
      net.mesh().carry(1, low);
      for (int i = 0; i < 16; ++i) net.mesh().look_after();
      EXPECT_TRUE(net.is_empty());
      EXPECT_EQ(net.count(1, 0, low), 2u);
      for (const auto& [at, from] : {std::pair{2u, 0u}, {0u, 0u}, {2u, 1u}, {0u, 1u}, {1u, 1u}})
        EXPECT_EQ(net.count(at, from, low), 1u) << at << " from " << from;
      if (HasFailure()) return;
    }
  }
}

// More than a carrier can remember, or may do in one go, is left to others.
TEST(LiveMeshStops, WhatACarrierGivesUpIsLeftToOthers) {
  for (unsigned steps = 0; steps < 12; ++steps) {
    Scene scene;
    Carrier<>(scene.net.mesh()).run(0, injected, steps);
    Carrier<>(scene.net.mesh()).run(2, injected, steps);
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

}  // namespace t1_live_mesh_stops_test
