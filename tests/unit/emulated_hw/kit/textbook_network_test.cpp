// The textbook router and its channels under the clock: what takes how long, what is kept, and that nothing depends on the order in
// which routers are stepped.
#include "emulated_hw/kit/textbook_network.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/check.hpp"
#include "unit/emulated_hw/port_checks.hpp"

namespace am::kit::textbook_network_test {

using Pattern = Traffic::Pattern;

FatTree tree_of(const std::vector<FatTree::Level>& levels) { return FatTree(levels); }

/// Small ones of every sort.
const Topology topologies[] = {Grid{{4}, {4}},       Grid{{4, true}, {4, true}},
                               Grid{{5, true}, {3}}, Grid{{6, true}},
                               Hypercube(0),         Hypercube(3),
                               FatTree::k_ary(2, 3), FatTree::k_ary(3, 2),
                               FatTree::k_ary(5, 1), tree_of({{2, 1}, {3, 2}, {2, 3}})};

test::MakePort port_of(const Topology& topology, const TextbookNetwork::Options& options) {
  return [&topology, options] { return std::make_unique<TextbookNetwork>(topology, options); };
}

TEST(TextbookNetwork, TakesTheSumOfThePartsWhereNothingIsInTheWay) {
  for (const Topology& topology : topologies) {
    for (const unsigned delay : {0u, 1u})
      test::expect_sum_of_parts(port_of(topology, {.num_vcs = 2, .vc_buf_size = 8, .routing_delay = delay}),
                                {1, 2, 5, 12});
  }
  const TextbookNetwork port(Grid{{4}}, {});
  EXPECT_EQ(port.zero_load_latency(0, 1), 7u);  // two cycles to the router, five through it
  EXPECT_EQ(port.zero_load_latency(14, 4), 80u);
  EXPECT_EQ(TextbookNetwork(Grid{{4}}, {.routing_delay = 0}).zero_load_latency(14, 4), 65u);
}

/// A place in a buffer is free again for the next flit six cycles after a flit's turn on the switch before it: with fewer places than
/// that a packet goes in bursts.
TEST(TextbookNetwork, GoesInBurstsWhereBuffersAreShorterThanTheWayOfACredit) {
  const auto latency = [](unsigned buffer) {
    TextbookNetwork port(Grid{{4}}, {.vc_buf_size = buffer});
    return test::latency(port, 0, 3, 24);
  };
  const Cycle full = TextbookNetwork(Grid{{4}}, {}).zero_load_latency(3, 24);
  EXPECT_EQ(latency(6), full);
  EXPECT_GT(latency(5), full);
  EXPECT_GE(latency(1), full + 23 * 5 - 5) << "one flit in six cycles";
  EXPECT_LE(latency(1), full + 23 * 5 + 5);
}

struct Load {
  Topology topology;
  TextbookNetwork::Options options;
  Traffic traffic;
};

Load some_load(test::Random& random) {
  const Topology& topology = topologies[random.below(std::size(topologies))];
  const bool is_grid = std::holds_alternative<Grid>(topology);
  const bool is_square = std::set{1u, 4u, 9u, 16u}.contains(nodes_of(topology));
  const auto pattern = static_cast<Pattern>(random.below(4));
  const bool takes =
      (pattern != Pattern::transpose || is_square) && (pattern != Pattern::neighbor || is_grid);
  const unsigned most_vcs = random.one_in(4) ? std::min(32u, 256 / ports_of(topology)) : 6;
  return {.topology = topology,
          .options = {.num_vcs = static_cast<unsigned>(2 + random.below(most_vcs - 1)),
                      .vc_buf_size = static_cast<unsigned>(1 + random.below(8)),
                      .routing_delay = static_cast<unsigned>(random.below(2))},
          .traffic = {.pattern = takes ? pattern : Pattern::uniform,
                      .injection_rate = 0.05 + 0.95 * static_cast<double>(random.below(100)) / 100,
                      .packet_size = static_cast<std::uint32_t>(1 + random.below(9)),
                      .seed = random()}};
}

unsigned credits_of(const TextbookNetwork& network, RouterNumber router, unsigned output) {
  return network.of_router(router, [&](const auto& one) { return one.credits(output); });
}

/// How many ports of it lead anywhere.
template <class OneTopology>
unsigned outputs_of(const OneTopology& topology, RouterNumber router) {
  unsigned ports = 0;
  for (unsigned port = 0; port < topology.ports(); ++port)
    ports += topology.neighbour(router, port) != nowhere;
  for (NodeNumber node = 0; node < topology.nodes(); ++node)
    ports += topology.place_of(node).router == router;
  return ports;
}

/// Whatever the load: no more flits in a buffer than it has places, credits for what is free and no more, flits neither lost nor
/// made; it never stands still; and when no more packets are made, all come, whole, where they should.
TEST(TextbookNetwork, KeepsWhatItIsGivenUntilAllHasCome) {
  test::Random random(test::seed());
  std::vector<Load> loads;
  // As few virtual channels as there may be, of one flit, at full load, much of it to one node.
  for (const Topology& topology : topologies) {
    for (const Pattern pattern : {Pattern::uniform, Pattern::hotspot})
      loads.push_back(
          {.topology = topology,
           .options = {.num_vcs = vc_classes(topology), .vc_buf_size = 1},
           .traffic = {.pattern = pattern, .injection_rate = 1, .packet_size = 5, .seed = random()}});
  }
  for (int some = 0; some < 30; ++some) loads.push_back(some_load(random));
  for (const Load& load : loads) {
    TextbookNetwork network(load.topology, load.options);
    TrafficNodes nodes(network, load.traffic);
    const RouterNumber routers = routers_of(load.topology);
    const unsigned channels = network.shape().ports * network.shape().vcs;
    for (int i = 0; i < 1'000; ++i) {
      nodes.cycle();
      ASSERT_NO_THROW(check_that_it_moves(network, 100));
      if (i % 50 != 0) continue;
      std::uint64_t sent = 0;
      for (const auto& [link, flits] : network.links()) sent += link.port == Link::of_node ? flits : 0;
      ASSERT_EQ(sent - nodes.come(), network.flits());
      for (RouterNumber router = 0; router < routers; ++router) {
        network.of_router(router, [&](const auto& one) {
          for (unsigned channel = 0; channel < channels; ++channel)
            ASSERT_LE(std::max(one.count(channel), one.credits(channel)), load.options.vc_buf_size);
        });
      }
    }
    test::drain(network, nodes);
    for (int i = 0; i < 8; ++i) nodes.cycle();  // the last credits
    EXPECT_EQ(network.flits(), 0u);
    for (RouterNumber router = 0; router < routers; ++router) {
      const unsigned ports =
          std::visit([&](const auto& one) { return outputs_of(one, router); }, load.topology);
      unsigned credits = 0;
      for (unsigned channel = 0; channel < channels; ++channel) {
        const unsigned some = credits_of(network, router, channel);
        EXPECT_TRUE(some == 0 || some == load.options.vc_buf_size);
        credits += some;
      }
      EXPECT_EQ(credits, ports * load.options.num_vcs * load.options.vc_buf_size);
    }
  }
}

TEST(TextbookNetwork, DoesTheSameInWhateverOrderItsRoutersAreStepped) {
  for (const Topology& topology :
       {Topology(Grid{{5, true}, {4}}), Topology(Hypercube(4)), Topology(FatTree::k_ary(3, 3))})
    test::expect_same_in_any_order(port_of(topology, {.num_vcs = 4, .vc_buf_size = 3}),
                                   {.injection_rate = 0.5, .packet_size = 4, .seed = 1});
}

TEST(TextbookNetwork, BringsAllInOrderOnOneVirtualChannel) {
  test::expect_all_comes_in_order(port_of(topologies[0], {.num_vcs = 1}), 3, 0);
}

/// Of the flits that are on their way to a router's three parents, each has a third.
TEST(TextbookNetwork, GoesUpByEachParentAsOften) {
  const FatTree tree = FatTree::k_ary(3, 2);
  TextbookNetwork network(tree, {.num_vcs = 1, .vc_buf_size = 200});
  TrafficNodes nodes(network, {.injection_rate = 0.3, .packet_size = 1, .seed = test::seed()});
  std::map<unsigned, double> under_way;  // flits, by parent
  double all = 0;
  for (int i = 0; i < 20'000; ++i) {
    nodes.cycle();
    for (RouterNumber leaf = 0; leaf < 3; ++leaf) {
      for (unsigned parent = 3; parent < 6; ++parent) {
        const double flits = 200 - credits_of(network, leaf, network.shape().channel(parent, 0));
        under_way[parent] += flits;
        all += flits;
      }
    }
  }
  for (const auto& [parent, flits] : under_way) EXPECT_NEAR(flits / all, 1.0 / 3, 0.03);
}

/// The halves of an odd number of virtual channels overlap, as in BookSim2.
TEST(TextbookNetwork, GivesBothClassesOfARingTheChannelInTheMiddle) {
  for (const auto& [channels, expected] :
       std::map<unsigned, std::set<unsigned>>{{2, {0b01, 0b10, 0b11}},
                                              {3, {0b011, 0b110, 0b111}},
                                              {4, {0b0011, 0b1100, 0b1111}},
                                              {5, {0b00111, 0b11100, 0b11111}}}) {
    TextbookNetwork network(Grid{{6, true}}, {.num_vcs = channels, .vc_buf_size = 2});
    TrafficNodes nodes(network, {.injection_rate = 1, .packet_size = 3, .seed = test::seed()});
    std::set<unsigned> seen;
    for (int i = 0; i < 2'000; ++i) {
      nodes.cycle();
      for (RouterNumber router = 0; router < network.nodes(); ++router) {
        network.of_router(router, [&](const auto& one) {
          for (unsigned input = 0; input < network.shape().ports * channels; ++input) {
            if (one.is_waiting(input)) seen.insert(one.route_of(input).vcs);
          }
        });
      }
    }
    EXPECT_EQ(seen, expected);
  }
}

/// Nodes 0 and 1 send to node 2, over buffers of two flits.
TEST(TextbookNetwork, SaysWhoWaitsForWhom) {
  TextbookNetwork network(Grid{{3}}, {.num_vcs = 1, .vc_buf_size = 2});
  network.inject(0, {.number = 7, .to = 2, .flits = 9});
  network.inject(1, {.number = 8, .to = 2, .flits = 9});
  for (int i = 0; i < 4; ++i) network.step({});
  EXPECT_THAT([&] { check_that_it_moves(network, 1); },
              testing::ThrowsMessage<std::runtime_error>(
                  "nothing has moved for 3 cycles:\n"
                  "router 0 port 0 vc 0: packet 7 waits for its turn to router 0 port 1 vc 0\n"
                  "router 1 port 0 vc 0: packet 8 waits for its turn to router 1 port 1 vc 0\n"));
  EXPECT_NO_THROW(check_that_it_moves(network, 3));
  while (network.now() < 15) network.step({});
  EXPECT_EQ(
      who_waits(network),
      "router 0 port 0 vc 0: packet 7 waits for room behind router 0 port 1 vc 0\n"
      "router 1 port 2 vc 0: packet 7 waits for a channel of port 1, 0 is that of packet behind router 1 "
      "port 0 vc 0\n")
      << "the next flits of packet 8 are still on their way to router 1";
}

/// However long there has been nothing to do before.
TEST(TextbookNetwork, IsNotStillWhenSomethingComesIn) {
  TextbookNetwork network(Grid{{3}}, {.num_vcs = 1, .vc_buf_size = 2});
  for (int i = 0; i < 1'000; ++i) network.step({});
  network.inject(0, {.number = 0, .to = 2});
  for (int i = 0; i == 0 || !network.is_empty(); ++i) {
    network.step({});
    ASSERT_LT(network.still_for(), 10u);
    ASSERT_LT(i, 100);
  }
}

/// More: tests/process/amsim_wrong_use.txt.
TEST(TextbookNetwork, RefusesWhatItCannotBe) {
  const auto why = [](const Topology& topology, const TextbookNetwork::Options& options) {
    return test::error_of<std::invalid_argument>([&] { TextbookNetwork(topology, options); });
  };
  EXPECT_EQ(why(Grid{{4}, {4}}, {.num_vcs = 32}), "no error");
  EXPECT_EQ(why(FatTree::k_ary(12, 2), {.num_vcs = 1}), "no error");
  EXPECT_EQ(why(tree_of({{4, 2}, {4, 2}}), {.num_vcs = 1}), "a node has one link to this network, not 2");
  EXPECT_EQ(why(Grid{{4, true}}, {.num_vcs = 1}),
            "a grid that wraps around needs 2 virtual channels: with one, packets could wait for each other "
            "in a ring");
}

}  // namespace am::kit::textbook_network_test
