// The CNS-1's network live: carriers that are stopped, or killed, before any of their accesses to what they share, while others go on.
// Each message is counted once, in order, and nothing lies forgotten.
#include "emulated_hw/t1/live_mesh.hpp"

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace t1_live_mesh_stops_test {

using namespace am::t1;
using namespace test;
using test::LiveNetwork;

constexpr auto low = Priority::low;
constexpr auto high = Priority::high;

using namespace am::kit;
constexpr Requests injected = request(channel(0, low, 0));

auto carrier(LiveNetwork& net, NodeNumber first, Requests inputs = injected, unsigned steps = 100) {
  return carrier_of(net, first, inputs, steps);
}

/// Messages of every kind are on their way through a ring of three; carriers move them.
struct Scene {
  LiveNetwork net{{.rows = 1, .columns = 3}};
  static auto carrier(LiveNetwork& net, NodeNumber first, unsigned steps = 100) {
    return t1_live_mesh_stops_test::carrier(net, first, injected, steps);
  }
  Scene() {
    for (const Carried& message :
         {Carried{.destination = 1, .source = 0}, Carried{.destination = 0, .source = 0, .multicast = true},
          Carried{.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 9},
          Carried{.destination = 1, .source = 2}, Carried{.destination = 1, .source = 2, .who = For::store},
          Carried{.destination = 1, .source = 2, .who = For::fetch, .answer_flits = 2}})
      EXPECT_TRUE(net.mesh().inject(message.source, low, message));
  }
  void all_has_come() {
    net.look_after(16);
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 2u);
    for (const auto& [at, from, what] : {std::tuple{2u, 0u, Counted::low},
                                         {0u, 0u, Counted::low},
                                         {1u, 2u, Counted::low},
                                         {1u, 2u, Counted::stored},
                                         {0u, 1u, Counted::answered},
                                         {2u, 1u, Counted::answered}})
      EXPECT_EQ(net.count(at, from, what), 1u) << at << " from " << from;
    EXPECT_GE(net.told(), 8u);
    // and all goes on
    for (NodeNumber from = 0; from < 3; ++from) {
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(net.send(low, {.destination = (from + 1) % 3, .source = from}));
      }
      EXPECT_EQ(net.count((from + 1) % 3, from, low), from == 0 ? 8u : 6u) << from;
    }
  }
};

TEST(LiveMeshStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) { goes_on_without_a_carrier<Scene>({0}); }
TEST(LiveMeshStops, TwoWhoWereStoppedDoNoHarmEither) { goes_on_without_two_carriers<Scene>({0, 2}); }
TEST(LiveMeshStops, AnyOrderOfThreeCarriersIsAsGood) { any_order_is_as_good<Scene>({0, 2, 1}, 150); }
TEST(LiveMeshStops, WhatACarrierGivesUpIsLeftToOthers) { what_is_given_up_is_left_to_others<Scene>({0, 2}); }

// Two nodes in a row; node 0 has messages for node 1, or fetches from it.

constexpr Shape two_nodes{.rows = 1, .columns = 2, .wraps = false};
constexpr Carried to_1{.destination = 1, .source = 0};
constexpr Carried fetch_of_1{.destination = 1, .source = 0, .who = For::fetch, .answer_flits = 3};
constexpr unsigned link = channel(am::kit::Grid::down(0), low, 0);  ///< the input of node 1 from node 0

std::uint64_t came(LiveNetwork& net, const Carried& message) {
  return message.who == For::fetch ? net.count(0, 1, Counted::answered) : net.count(1, 0, low);
}

struct Input {
  NodeNumber node;
  unsigned channel;
  [[nodiscard]] const LiveChannel& in(LiveNetwork& net) const {
    return net.mesh().router(node).inputs[channel];
  }
};
/// Fills a channel with messages of node 0, each by a carrier that is stopped when it has taken it out of the channel before, and
/// `further` accesses later.
std::deque<Steps::One>& fill(LiveNetwork& net, const Carried& message, const Input& before, const Input& full,
                             std::deque<Steps::One>& holders, unsigned further = 0) {
  for (unsigned n = 1; n <= LiveChannel::places; ++n) {
    EXPECT_TRUE(net.mesh().inject(0, low, message));
    Steps::One& holder = holders.emplace_back(carrier(net, 0));
    while (Entry{full.in(net).entries}.count() != n || before.in(net).left != n) {
      if (!holder.go(1)) throw std::logic_error("a carrier has ended before the channel was full");
    }
    EXPECT_TRUE(holder.go(further));
  }
  return holders;
}

// More carriers than a channel has places, each with a message over the same link, or into the interface's own channel: some find no
// room. Nobody looks after them.
TEST(LiveMeshStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  std::uint64_t refused = 0;
  std::uint64_t unanswered = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(two_nodes);
    constexpr unsigned carriers = 9;
    unsigned accepted = 0;
    const Carried& message = round % 2 == 1 ? fetch_of_1 : to_1;
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < carriers; ++i) {
      all.emplace_back([&](Steps::One& one) {
        if (net.mesh().inject(0, low, message)) ++accepted;
        carrier(net, 0)(one);
      });
    }
    test::finish_in_any_order(all, random, 2 + random.below(40));
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(came(net, message), accepted);
    for (unsigned input = 0; input < channels; ++input) {
      refused += net.mesh().router(0).inputs[input].refused;
      unanswered += net.mesh().router(1).inputs[input].refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(unanswered, 10u);
}

// It finds no room for its message, or a fetch for its answer, and is stopped anywhere; meanwhile there is room again, and whoever has
// made it goes.
TEST(LiveMeshStops, WhoFindsNoRoomHearsOfIt) {
  struct Case {
    const char* what;
    Carried message;
    Input before, full;
    Requests make_room;
  };
  for (const Case& one : {Case{"message", to_1, {0, 0}, {1, link}, ~Requests{0}},
                          Case{"fetch", fetch_of_1, {1, link}, {1, answers}, request(answers)}}) {
    SCOPED_TRACE(one.what);
    at_each_access([&](unsigned at, bool& ended) {
      LiveNetwork net(two_nodes);
      std::deque<Steps::One> killed;
      fill(net, one.message, one.before, one.full, killed).clear();
      ASSERT_TRUE(net.mesh().inject(0, low, one.message));
      Steps::One stopped(carrier(net, 0));
      ended = !stopped.go(at);
      LiveMesh::Carrier<>(net.mesh()).run(1, one.make_room, 100);
      stopped.finish();
      EXPECT_TRUE(net.is_empty());
      EXPECT_EQ(came(net, one.message), 5u);
    });
  }
}

// A mark is taken back at the very moment when somebody else relies on it; nobody looks after anything.
TEST(LiveMeshStops, WhoTakesAMarkBackLooksForWhoReliedOnIt) {
  LiveNetwork net(two_nodes);
  const LiveRouter& first = net.mesh().router(0);
  std::deque<Steps::One> holders;
  fill(net, to_1, {0, 0}, {1, link}, holders);
  Steps::One(carrier(net, 0, injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  Steps::One finds_nothing(carrier(net, 0, 0));
  ASSERT_TRUE(
      finds_nothing.go(1 + 1 + 2));  // the marks, what has left, the place: it is about to take the mark back
  ASSERT_TRUE(net.mesh().inject(0, low, to_1));
  Steps::One(carrier(net, 0)).finish();  // no room; the mark stands already
  while (first.waiting.load() != 0) ASSERT_TRUE(finds_nothing.go(1));
  for (Steps::One& holder : holders) holder.finish();
  finds_nothing.finish();
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
}

// One finds nothing where a mark stands, and moves another packet; meanwhile one has come there that finds no room, and then there is.
TEST(LiveMeshStops, WhatComesWhileAnotherMovesIsNotForgotten) {
  LiveNetwork net(two_nodes);
  const LiveRouter& first = net.mesh().router(0);
  std::deque<Steps::One> holders;
  fill(net, to_1, {0, 0}, {1, link}, holders,
       3);  // have looked what is next here, and go on to the next router
  Steps::One(carrier(net, 0, injected, 0)).finish();  // gives up, and leaves a mark where nothing is left
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_TRUE(net.mesh().inject(0, high, {.destination = 0, .source = 0}));
  Steps::One moves(carrier(net, 0, request(channel(0, high, 0))));
  ASSERT_TRUE(moves.go(1 + 1 + 2 + 2));  // the marks, both firsts: it is about to take the mark of low back
  ASSERT_EQ(first.waiting.load(), injected);
  ASSERT_EQ(net.count(0, 0, high), 0u);
  ASSERT_TRUE(net.mesh().inject(0, low, to_1));
  Steps::One(carrier(net, 0)).finish();  // no room; the mark stands already
  ASSERT_TRUE(moves.go(1));
  ASSERT_EQ(first.waiting.load(), 0u);
  for (Steps::One& holder : holders) holder.finish();
  moves.finish();
  EXPECT_EQ(net.count(0, 0, high), 1u);
  EXPECT_TRUE(net.is_empty());
  EXPECT_EQ(net.count(1, 0, low), 5u);
  EXPECT_EQ(first.waiting.load(), 0u);
}

// Two are killed, one after the other, with messages that come to the same node by two inputs and are counted together; a third needs the
// channel into which the second has let its message: it has to bring on that one, and for this the first one.
TEST(LiveMeshStops, WhoComesNextBringsOnWhatIsInItsWay) {
  const Carried round{.destination = 0, .source = 0, .multicast = true};
  at_each_two_accesses([&](unsigned first_at, bool& first_ended, unsigned second_at, bool& second_ended) {
    LiveNetwork net({.rows = 1, .columns = 3});
    ASSERT_TRUE(net.mesh().inject(0, low, {.destination = 1, .source = 0}));
    Steps::One first(carrier(net, 0));
    first_ended = !first.go(first_at);
    ASSERT_TRUE(net.mesh().inject(0, low, round));
    Steps::One second(carrier(net, 0));
    second_ended = !second.go(second_at);
    first.kill();
    second.kill();
    ASSERT_TRUE(net.send(low, {.destination = 1, .source = 1, .multicast = true}));
    net.look_after(16);
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(1, 0, low), 2u);
    for (const auto& [at, from] : {std::pair{2u, 0u}, {0u, 0u}, {2u, 1u}, {0u, 1u}, {1u, 1u}})
      EXPECT_EQ(net.count(at, from, low), 1u) << at << " from " << from;
  });
}

}  // namespace t1_live_mesh_stops_test
