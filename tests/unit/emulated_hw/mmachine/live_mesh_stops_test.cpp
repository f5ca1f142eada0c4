// The M-Machine's network live, and carriers that are stopped, or killed, before any of their accesses to what they share, while others go
// on. Each message is counted once: one of P0 where it is taken or where it came from, whoever is told what by the node that it asks.

#include "live_network.hpp"
#include "unit/emulated_hw/kit/live_carriers.hpp"

namespace mmachine_live_mesh_stops_test {

using namespace am::mmachine;
using namespace am::kit;
using namespace test;
using test::LiveNetwork;
using enum MessageKind;
constexpr auto p0 = Priority::p0;
constexpr auto p1 = Priority::p1;

constexpr Requests injected = request(input_of(p0)) | request(input_of(p1));
/// Where links end that lead up, and down, a row.
constexpr unsigned from_below = Grid::down(0);
constexpr unsigned from_above = Grid::up(0);

constexpr Requests come_over_link(MessageKind kind) {
  return request(input_at(from_below, static_cast<unsigned>(own_channel(kind))));
}

/// Messages of every kind are on their way along a row of three; some have come over a link. Nodes take what they like.
struct Scene {
  LiveNetwork net{1, 3};
  std::uint64_t answers = any_answers();  // to who asks whether P0 is taken, one after the other
  std::vector<LiveMessage> sent;

  static std::uint64_t any_answers() {
    static Random random(seed());
    return random();
  }
  Scene() {
    net.takes_p0 = [this](NodeNumber) {
      answers = std::rotl(answers, 1);
      return (answers & 1) != 0;
    };
    put_on_link({.destination = 2, .source = 0, .flits = 3, .kind = p0_ordered});
    put_on_link({.destination = 2, .source = 0, .flits = 4, .kind = p1_unordered});
    put_on_link({.destination = 0, .source = 2, .flits = 5, .kind = p0_unordered});
    put_on_link({.destination = 1, .source = 2, .flits = 6, .kind = p0_ordered});
    inject({.destination = 1, .source = 0, .flits = 7, .kind = p0_unordered});
    inject({.destination = 2, .source = 0, .flits = 8, .kind = p1_ordered});
    inject({.destination = 1, .source = 1, .flits = 9, .kind = p0_ordered});
    inject({.destination = 1, .source = 2, .flits = 10, .kind = p0_unordered});
    inject({.destination = 1, .source = 2, .flits = 11, .kind = p1_unordered});
  }
  void put_on_link(const LiveMessage& message) {
    EXPECT_TRUE(net.send_to_next(message));
    sent.push_back(message);
  }
  void inject(const LiveMessage& message) {
    EXPECT_TRUE(net.mesh().inject(message.source, message));
    sent.push_back(message);
  }
  /// With all that lies at a node in the beginning.
  static auto carrier(LiveNetwork& net, NodeNumber first) {
    Requests inputs = injected;
    if (first == 1)
      inputs |= request(input_at(from_below, 0)) | request(input_at(from_below, 3)) |
                request(input_at(from_above, 2)) | request(input_at(from_above, 0));
    return carrier_of(net, first, inputs);
  }
  void each_is_counted_once() {
    EXPECT_TRUE(net.is_empty());
    unsigned of_p0_taken = 0;
    for (const LiveMessage& message : sent) {
      SCOPED_TRACE(message.flits);
      const auto taken = net.count(message.destination, message.source, taken_as(message.kind));
      if (message.priority() == p1) {
        EXPECT_EQ(taken, 1u);
      } else {
        EXPECT_EQ(taken + net.count(message.source, message.destination, back_as(message.kind)), 1u);
        of_p0_taken += static_cast<unsigned>(taken);
      }
    }
    EXPECT_EQ(net.count_of_all(), sent.size());
    EXPECT_LE(net.times_took(0) + net.times_took(1) + net.times_took(2), of_p0_taken);
    EXPECT_GE(net.told(), sent.size());
  }
  void all_has_come() {
    net.look_after(16);
    each_is_counted_once();
    // and all goes on
    net.takes_p0 = [](NodeNumber) { return true; };
    std::uint64_t counted = net.count_of_all();
    for (NodeNumber from = 0; from < 3; ++from) {
      for (const MessageKind kind : all_kinds) {
        for (int i = 0; i < 6; ++i) {
          EXPECT_TRUE(net.send({.destination = (from + 1) % 3, .source = from, .kind = kind}));
          EXPECT_EQ(net.count_of_all(), ++counted) << from;
        }
      }
    }
  }
};

TEST(MMachineLiveMeshStops, OthersGoOnWhereACarrierWasKilledOrStopped) {
  goes_on_without_a_carrier<Scene>({0, 1, 2});
}
TEST(MMachineLiveMeshStops, TwoWhoWereStoppedDoNoHarmEither) {
  goes_on_without_two_carriers<Scene>({1, 0, 2});
}

// One asks its node whether it takes a message, and is stopped anywhere; another asks, is told the contrary, and is stopped anywhere; then
// the first goes on, and the other.
TEST(MMachineLiveMeshStops, WhatBecomesOfAMessageIsDecidedOnce) {
  for (const MessageKind kind : {p0_ordered, p0_unordered}) {
    for (const bool first_told : {true, false}) {
      SCOPED_TRACE(first_told);
      unsigned first_won = 0, second_won = 0;
      const auto stop_both = [&](unsigned first_at, bool& first_ended, unsigned second_at,
                                 bool& second_ended) {
        LiveNetwork net(1, 2);
        bool answer = first_told;
        net.takes_p0 = [&](NodeNumber) { return answer; };
        ASSERT_TRUE(net.send_to_next({.destination = 1, .source = 0, .kind = kind}));
        Steps::One first(carrier_of(net, 1, come_over_link(kind)));
        first_ended = !first.go(first_at);
        answer = !first_told;
        Steps::One second(carrier_of(net, 1, come_over_link(kind)));
        second_ended = !second.go(second_at);
        answer = first_told;
        first.finish();
        answer = !first_told;
        second.finish();
        EXPECT_TRUE(net.is_empty());
        const bool taken = net.count(1, 0, taken_as(kind)) != 0;
        EXPECT_EQ(net.count(taken ? 1 : 0, taken ? 0 : 1, taken ? taken_as(kind) : back_as(kind)), 1u);
        EXPECT_EQ(net.count_of_all(), 1u);
        EXPECT_EQ(net.times_took(1), taken ? 1u : 0u);
        ++(taken == first_told ? first_won : second_won);
      };
      at_each_two_accesses(stop_both);
      EXPECT_GT(first_won, 30u);
      EXPECT_GT(second_won, 30u);
    }
  }
}

/// What has come into a channel, in that order: looked at after each access.
class Log {
 public:
  Log(const LiveNetwork& net, NodeNumber node, unsigned input) : channel_(net.input(node, input)) {}
  void look() {
    for (;;) {
      const LiveChannel::First next = channel_.at(seen_, am::kit::Look());
      if (!next.is_there) return;
      ++seen_;
      const LiveMessage message = LiveMessage::of(next.packet);
      if (message.kind == p0_ordered) ordered.push_back(message.flits);
      others += message.kind != p0_ordered;
    }
  }
  std::vector<unsigned> ordered;
  unsigned others = 0;

 private:
  const LiveChannel& channel_;
  am::kit::Word seen_ = 0;
};

// Messages whose numbers are their lengths; carriers of these, and of others that may take the same channel, and have no other.
TEST(MMachineLiveMeshStops, WhatIsOrderedStaysInOrder) {
  test::Random random(test::seed());
  unsigned others = 0;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(1, 4);
    net.takes_p0 = [&](NodeNumber) { return !random.one_in(3); };
    std::array logs = {Log(net, 1, input_at(from_below, 0)), Log(net, 2, input_at(from_below, 0)),
                       Log(net, 3, input_at(from_below, 0))};
    for (const NodeNumber from : {2u, 1u, 0u}) {
      for (const MessageKind kind : {p1_ordered, p0_unordered, p1_unordered})
        ASSERT_TRUE(net.send_to_next({.destination = 3, .source = from, .kind = kind}));
    }
    unsigned next = 3;
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < 4; ++i) {
      all.emplace_back([&](Steps::One& one) {
        while (next <= 13) {
          const MessageKind other = random.one_in(2) ? p1_unordered : p0_unordered;
          if (net.mesh().inject(0, {.destination = 3, .source = 0, .flits = next})) ++next;
          for (const NodeNumber from : {0u, 1u, 2u}) {
            if (random.one_in(2))
              (void)net.mesh().inject(from, {.destination = 3, .source = from, .kind = other});
            carrier_of(net, from, injected, 100)(one);
          }
        }
      });
    }
    finish_in_any_order(all, random, 1, [&] {
      for (Log& log : logs) log.look();
    });
    net.look_after(16);
    EXPECT_TRUE(net.is_empty());
    for (const Log& log : logs) {
      EXPECT_EQ(log.ordered, (std::vector<unsigned>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
      others += log.others;
    }
    EXPECT_EQ(net.count(3, 0, Counted::p0) + net.count(0, 3, Counted::back), 11u);
    if (HasFailure()) return;
  }
  EXPECT_GT(others, 100u) << "in the same channel";
}

// Carriers with messages of all kinds over the same links, and into what one interface sends back: some find no room. Nobody looks after
// them.
TEST(MMachineLiveMeshStops, NothingIsForgottenWhereRoomIsShort) {
  test::Random random(test::seed());
  std::array<std::uint64_t, message_kinds> refused{};
  std::uint64_t cannot_go_back = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    LiveNetwork net(1, 3);
    const std::uint64_t taken_one_in = 1 + random.below(6);
    net.takes_p0 = [&](NodeNumber) { return random.one_in(taken_one_in); };
    unsigned accepted = 0;
    std::deque<Steps::One> all;
    for (unsigned i = 0; i < 10; ++i) {
      const LiveMessage message{
          .destination = 2, .source = i % 2, .kind = all_kinds[random.below(round % 2 == 0 ? 4 : 1)]};
      all.emplace_back([&net, &accepted, message](Steps::One& one) {
        if (net.mesh().inject(message.source, message)) ++accepted;
        carrier_of(net, message.source, injected)(one);
      });
    }
    finish_in_any_order(all, random, 2 + random.below(40));
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count_of_all(), accepted);
    for (const NodeNumber node : {0u, 1u}) {
      for (unsigned input = 0; input < live_channels; ++input)
        refused[input % most_channels] += net.input(node, input).refused;
    }
    cannot_go_back += net.refused(2);
    if (HasFailure()) return;
  }
  for (unsigned i = 0; i < 2; ++i) EXPECT_GT(refused[i], 10u) << i;
  EXPECT_GT(cannot_go_back, 10u);
}

/// Fills all channels of the link from node 0 to node 1, with messages whose carriers are killed.
void fill_link(LiveNetwork& net) {
  for (const MessageKind kind : all_kinds) {
    ASSERT_TRUE(net.send_to_next({.destination = 1, .source = 0, .kind = kind}));
    ASSERT_EQ(net.filled(1, input_at(from_below, static_cast<unsigned>(own_channel(kind)))), 1u);
  }
}

// It finds no room, and is stopped anywhere; meanwhile one of the channels that it may take is free again, and whoever has made it so goes.
TEST(MMachineLiveMeshStops, WhoFindsNoRoomHearsOfIt) {
  const std::array<std::vector<unsigned>, message_kinds> channels_of = {
      std::vector{0u}, std::vector{1u}, std::vector{2u, 3u, 0u}, std::vector{3u, 2u, 1u, 0u}};
  for (const MessageKind kind : all_kinds) {
    for (const unsigned channel : channels_of[own_channel(kind)]) {
      SCOPED_TRACE(own_channel(kind));
      SCOPED_TRACE(channel);
      for (const bool is_alone : {true, false}) {  // as far as its carrier knows
        at_each_access([&](unsigned at, bool& ended) {
          LiveNetwork net(1, 2);
          fill_link(net);
          ASSERT_TRUE(net.mesh().inject(0, {.destination = 1, .source = 0, .kind = kind}));
          Steps::One one(carrier_of(net, 0, is_alone ? request(input_of(priority_of(kind))) : injected));
          ended = !one.go(at);
          LiveMesh::Carrier<>(net.mesh()).run(1, request(input_at(from_below, channel)), 100);
          one.finish();
          EXPECT_TRUE(net.mesh().has_gone(0));
          EXPECT_EQ(net.count_of_all(), 2u);
          EXPECT_EQ(net.input(1, input_at(from_below, channel)).flits, 2u * 3);
          net.look_after(16);
          EXPECT_TRUE(net.is_empty());
          EXPECT_EQ(net.count_of_all(), 5u);
        });
      }
    }
  }
}

// A message is not taken and finds no room to go back, and is stopped anywhere; meanwhile there is room again, and whoever has made it goes.
TEST(MMachineLiveMeshStops, WhoCannotGoBackHearsOfIt) {
  for (const bool are_several : {false, true}) {
    at_each_access([&](unsigned at, bool& ended) {
      LiveNetwork net(1, 2);
      net.takes_p0 = [](NodeNumber) { return false; };
      ASSERT_TRUE(net.send_to_next({.destination = 1, .source = 0}));
      ASSERT_TRUE(net.carry_out_of(1, input_at(from_below, 0)));
      ASSERT_EQ(net.filled(1, going_back), 1u);
      ASSERT_TRUE(net.send_to_next({.destination = 1, .source = 0}));
      Requests its = come_over_link(p0_ordered);
      if (are_several) {
        ASSERT_TRUE(net.send_to_next({.destination = 1, .source = 0, .kind = p0_unordered}));
        its |= come_over_link(p0_unordered);
      }
      Steps::One one(carrier_of(net, 1, its));
      ended = !one.go(at);
      LiveMesh::Carrier<>(net.mesh()).run(1, request(going_back), 100);
      one.finish();
      EXPECT_TRUE(net.is_empty());
      EXPECT_EQ(net.count(0, 1, Counted::back), 2u);
      EXPECT_EQ(net.count(0, 1, Counted::back_unordered), are_several ? 1u : 0u);
    });
  }
}

// P0 has filled channels 0, 2 and 3 of every link, and waits for what it is not given; whoever carried it is killed. P1 has channel 1.
TEST(MMachineLiveMeshStops, PriorityOneNeverWaitsForPriorityZero) {
  for (const bool are_marked : {false, true}) {
    LiveNetwork net(1, 3);
    net.takes_p0 = [](NodeNumber) { return false; };
    for (const NodeNumber from : {1u, 0u}) {
      for (const MessageKind kind : {p0_ordered, p0_unordered, p0_unordered})
        ASSERT_TRUE(net.send_to_next({.destination = 2, .source = from, .kind = kind}));
      for (const unsigned channel : {0u, 2u, 3u})
        ASSERT_EQ(net.filled(from + 1, input_at(from_below, channel)), 1u);
      ASSERT_TRUE(net.mesh().inject(from, {.destination = 2, .source = from, .kind = p0_unordered}));
      if (are_marked) {
        LiveMesh::Carrier<>(net.mesh()).run(from, all_inputs, 100);
        ASSERT_FALSE(net.mesh().has_gone(from));
      }
    }
    for (std::uint64_t n = 1; n <= 40; ++n) {
      for (const MessageKind kind : {p1_ordered, p1_unordered}) {
        ASSERT_TRUE(net.send({.destination = 2, .source = 0, .kind = kind})) << n;
        ASSERT_EQ(net.count(2, 0, taken_as(kind)), n);
      }
    }
    for (const NodeNumber node : {1u, 2u}) {
      EXPECT_EQ(net.input(node, input_at(from_below, 1)).flits, 2u * 40 * 3);
      for (const unsigned channel : {0u, 2u, 3u})
        EXPECT_EQ(net.filled(node, input_at(from_below, channel)), 1u) << "P0 stays where it was";
    }
    net.look_after(16);
    EXPECT_TRUE(net.is_empty());
    EXPECT_EQ(net.count(0, 2, Counted::back) + net.count(1, 2, Counted::back), 2u);
    EXPECT_EQ(net.count(0, 2, Counted::back_unordered) + net.count(1, 2, Counted::back_unordered), 6u);
  }
}

// One is killed on the way, another when it looks after routers: whatever it was about to forget.
TEST(MMachineLiveMeshStops, IsFoundAlsoWhenWhoLooksAfterItIsKilled) {
  test::Random random(test::seed());
  const auto look_after_all = [](Scene& scene) {
    return [&scene](Steps::One& one) {
      for (NodeNumber node = 0; node < 3; ++node)
        LiveMesh::Carrier<Stops>(scene.net.mesh(), Stops{&one}).look_after(node, true, 100);
    };
  };
  Scene undisturbed;
  const unsigned all = accesses_of(Scene::carrier(undisturbed.net, 0));
  at_some_two_accesses(all, 600, 80, random, [&](unsigned at, unsigned other) {
    Scene scene;
    Steps::One one(Scene::carrier(scene.net, 0));
    one.go(at);
    Steps::One looks(look_after_all(scene));
    looks.go(other);
    one.kill();
    looks.kill();
    scene.all_has_come();
  });
}

}  // namespace mmachine_live_mesh_stops_test
