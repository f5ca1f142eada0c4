// A data network of the CM-5: criteria CM-5 to CM-15 and CM-31 (von Eicken 1993, 3.2.3, Figure 3-9).
#include "emulated_hw/cm5/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <numeric>

#include "support/random.hpp"

namespace am::cm5::network_test {

/// A network whose nodes send what they are told, and take what comes at once, unless they are told not to.
struct Nodes {
  explicit Nodes(NodeNumber count, std::uint64_t seed = 1, NodeNumber deaf = kit::nowhere)
      : network(count, seed), to_send(count), came(count), sending(count), told(count) {
    for (NodeNumber node = 0; node < count; ++node) {
      network.rings(network.wiring().node(node), {told, node});
      for (unsigned link = 0; link < Tree::links && node != deaf; ++link)
        network.accept(network.into(node, link));
    }
  }

  void send(NodeNumber from, NodeNumber to, unsigned length = most_words, Word word = 0) {
    sending.put(from);
    to_send[from].push_back(
        {.to = to, .tag = 1, .length = static_cast<std::uint8_t>(length), .words = {word, from}});
  }
  void step() {
    sending.for_each([&](NodeNumber node) {
      auto& messages = to_send[node];
      while (!messages.empty() && network.launch(node, messages.front())) messages.pop_front();
      if (messages.empty()) sending.erase(node);
    });
    told.for_each([&](NodeNumber node) {
      told.erase(node);
      for (unsigned link = 0; link < Tree::links; ++link) take(network.into(node, link), node);
    });
    network.step();
  }
  void take(kit::WireNumber wire, NodeNumber node) {
    const auto* come = network.front(wire);
    if (come == nullptr) return;
    came[node].push_back({come->word, network.now()});
    network.take(wire);
    network.accept(wire);
  }
  [[nodiscard]] bool is_empty() const { return network.under_way() == 0 && sending.empty(); }
  void run_dry() {
    while (!is_empty() && network.still_for() < 500) step();
  }

  struct Arrival {
    Message message;
    Cycle at = 0;
  };
  Network network;
  std::vector<std::deque<Message>> to_send;  // by node
  std::vector<std::vector<Arrival>> came;
  kit::NodeSet sending;  // nodes that have something to send
  kit::NodeSet told;     // to which something has come
};

double megabytes_a_second(double bytes, Cycle cycles) {
  return bytes / (static_cast<double>(cycles) * cycle_ns) * 1000;
}

/// What each node takes in MB/s of data, when all send all that they can to where `to` says.
template <class To>
double saturated(NodeNumber count, Cycle cycles, To to) {
  Nodes nodes(count);
  std::uint64_t before = 0;
  std::uint64_t words = 0;
  for (Cycle cycle = 0; cycle < 2 * cycles; ++cycle) {
    for (NodeNumber node = 0; node < count; ++node) {
      if (nodes.to_send[node].empty()) nodes.send(node, to(node));
    }
    nodes.step();
    if (cycle + 1 == cycles) std::swap(before, words);
    for (auto& came : nodes.came) {
      words += most_words * came.size();
      came.clear();
    }
  }
  return megabytes_a_second(4.0 * static_cast<double>(words) / count, cycles);
}

/// CM-5: 512 + 4 x 256 routers; two parents for nodes and for the lowest routers, four for the others. CM-11: a message in each input of these
/// routers is 10.0 a node.
TEST(Cm5Tree, HasTheRoutersOf1024Nodes) {
  const Tree tree(1024);
  const kit::Wiring wiring = tree.wiring(1);
  const auto routers = tree.routers();
  ASSERT_EQ(routers.size(), 1536u);
  std::vector<unsigned> of_level(tree.levels());
  for (const Tree::Router& router : routers) {
    const unsigned level = router.bits_of_port / 2u;
    ++of_level[level];
    EXPECT_EQ(std::popcount(router.down), 4);
    EXPECT_EQ(std::popcount(router.up), level == 0 ? 2 : level == 4 ? 0 : 4);
  }
  EXPECT_EQ(of_level, (std::vector<unsigned>{512, 256, 256, 256, 256}));
  for (NodeNumber node = 0; node < 1024; ++node) EXPECT_EQ(wiring.out_of(wiring.node(node)).size(), 2u);
  const auto inputs = std::ranges::count_if(
      wiring.wires(), [&](const kit::Wire& wire) { return wire.to.part < wiring.routers(); });
  EXPECT_EQ(static_cast<double>(inputs) * Router::buffer / 1024, 10.0);
}

/// CM-5, CM-10: of any number of nodes: whatever parents it takes, a message comes to its node, by as many routers up as down. A router has
/// children or is absent.
TEST(Cm5Tree, LeadsFromAnyNodeToAnyOther) {
  for (const NodeNumber count : {2u, 3u, 4u, 5u, 15u, 16u, 17u, 63u, 65u, 200u}) {
    const Tree tree(count);
    EXPECT_TRUE(tree.levels() == 1 || 1u << (2 * tree.levels() - 2) < count);
    const kit::Wiring wiring = tree.wiring(1);
    const Router router(tree, 1);
    for (NodeNumber from = 0; from < count; from += 1 + count / 40) {
      for (NodeNumber to = 0; to < count; ++to) {
        if (to == from) continue;
        for (const bool first : {true, false}) {
          unsigned routers = 0;
          kit::PartNumber here = wiring.node(from);
          for (std::uint64_t ports = 0b11; here != wiring.node(to); ++routers) {
            const auto port =
                static_cast<unsigned>(first ? std::countr_zero(ports) : 63 - std::countl_zero(ports));
            const kit::WireNumber wire = wiring.out_of(here).at(port);
            ASSERT_NE(wire, kit::no_wire);
            here = wiring.wire(wire).to.part;
            if (here < wiring.routers()) ports = router.way(here, 0, {.to = to}).outputs;
          }
          ASSERT_EQ(routers, 2 * tree.levels_to_climb(from, to));
        }
      }
    }
    for (kit::PartNumber part = 0; part < wiring.routers(); ++part)
      EXPECT_EQ(router.routers()[part].down != 0, !wiring.into(part).empty());
  }
  EXPECT_THROW(Tree(1), std::invalid_argument);
  EXPECT_THROW(Tree(1025), std::invalid_argument);
}

/// CM-9, C-1: 0.2 us a router over every distance; 1.8 us through the 9 of 1024 nodes. CM-7, CM-8: and the longest message is 1.2 us.
TEST(Cm5Network, TakesEightCyclesARouter) {
  Nodes nodes(1024);
  for (unsigned levels = 1; levels <= 5; ++levels) {
    for (unsigned words = 0; words <= most_words; ++words) {
      const NodeNumber from = 1023 - 37 * words;
      const NodeNumber to = from ^ 1u << (2 * levels - 2);
      const Cycle begun = nodes.network.now();
      nodes.send(from, to, words);
      nodes.run_dry();
      const Cycle took = nodes.came[to].back().at - begun;
      EXPECT_EQ(took, latency(words, levels));
      EXPECT_EQ((took - (8 * words + 3 + levels)) * cycle_ns, (2 * levels - 1) * 200);
    }
  }
  nodes.send(0, 1023, 0);
  const Cycle begun = nodes.network.now();
  nodes.run_dry();
  EXPECT_EQ((nodes.came[1023].back().at - begun - 8) * cycle_ns, 1800u);
  EXPECT_THROW(static_cast<void>(nodes.network.launch(0, {.to = 1024})), std::out_of_range);
}

/// CM-6, CM-7: a link carries the longest messages of 1024 nodes one behind the other, in 48 cycles each: 1.2 us, and a little over 16 MB/s.
/// CM-13: when the first one's head is there, the second one is being injected.
TEST(Cm5Network, KeepsALinkBusy) {
  Nodes nodes(1024);
  constexpr unsigned messages = 200;
  for (unsigned i = 0; i < messages; ++i) nodes.send(0, 1023 - 3 * i);
  const std::array links{nodes.network.out_of(0, 0), nodes.network.out_of(0, 1)};
  Cycle at_first = 0;
  while (!nodes.to_send[0].empty()) {
    nodes.step();
    if (nodes.network.now() == 72)
      at_first = nodes.network.carried(links[0]) + nodes.network.carried(links[1]);
  }
  EXPECT_EQ(at_first, 2u * 2) << "one has been injected by each link, and one is";
  EXPECT_EQ(nodes.network.now(), (messages / 2 - 1) * 48 + 1);
  while (!nodes.is_empty()) nodes.step();
  const auto words = most_words * nodes.network.carried(links[0]);
  EXPECT_NEAR(megabytes_a_second(4.0 * static_cast<double>(words), nodes.network.now() - latency(0, 5)),
              16.67, 0.2);
}

/// CM-10: parents are taken at random, each as often as the others, and none above those that both nodes have in common.
TEST(Cm5Network, ClimbsByRandomParents) {
  Nodes nodes(256, test::seed());
  constexpr unsigned messages = 2000;
  for (unsigned i = 0; i < messages; ++i) {
    nodes.send(0, 20, 1);
    nodes.run_dry();
  }
  const kit::Wiring& wiring = nodes.network.wiring();
  for (kit::WireNumber wire = 0; wire < wiring.wires().size(); ++wire) {
    const kit::PartNumber from = wiring.wire(wire).from.part;
    const auto carried = static_cast<double>(nodes.network.carried(wire));
    if (from >= wiring.routers()) continue;
    const Tree::Router& router = nodes.network.policy().routers()[from];
    const bool is_up = wiring.wire(wire).from.port >= Tree::children;
    if (!is_up || !router.has_below(0)) continue;
    const double share = router.bits_of_port == 0 ? 1.0 / 4 : router.bits_of_port == 2 ? 1.0 / 16 : 0;
    EXPECT_NEAR(carried, share * messages, 5 * std::sqrt(share * messages)) << wiring.wire(wire).name();
  }
}

/// CM-11: to a node that takes nothing: a message lies in each router input on all of its ways, and the others wait at their source.
TEST(Cm5Network, HoldsAMessageInEachInput) {
  for (const auto& [to, inputs] : {std::pair{1u, 2u}, {15u, 2u + 4 + 4}, {63u, 2u + 4 + 16 + 16 + 4}}) {
    Nodes nodes(64, 1, to);
    for (unsigned i = 0; i < 100; ++i) nodes.send(0, to);
    nodes.run_dry();
    EXPECT_EQ(nodes.network.under_way(), inputs);
    EXPECT_NE(kit::who_waits(nodes.network)
                  .find("a message to node " + std::to_string(to) + ", waits for room at node " +
                        std::to_string(to)),
              std::string::npos);
  }
}

/// CM-12: "guaranteed to be at least 5 Mbytes/s (of data payload) per processor per data network".
TEST(Cm5Network, BringsFiveMegabytesThroughTheRoot) {
  test::Random random(test::seed());
  const double pairs = saturated(1024, 1500, [](NodeNumber node) { return node ^ 512; });
  const double any = saturated(1024, 1500, [&](NodeNumber node) {
    return (~node & 512) | static_cast<NodeNumber>(random.below(512));
  });
  RecordProperty("megabytes", std::to_string(pairs) + ' ' + std::to_string(any));
  EXPECT_GE(pairs, 5);
  EXPECT_GE(any, 5);
  EXPECT_LT(pairs, 16.7) << "a link a node";
}

/// CM-15: "the constriction in the two lowest levels favors ... locality".
TEST(Cm5Network, FavorsLocality) {
  test::Random random(test::seed());
  const auto among = [&](NodeNumber group) {
    return saturated(256, 4000, [&](NodeNumber node) {
      return (node & ~(group - 1)) |
             ((node + 1 + static_cast<NodeNumber>(random.below(group - 1))) & (group - 1));
    });
  };
  const double four = among(4);
  const double sixteen = among(16);
  const double all = among(256);
  RecordProperty("megabytes",
                 std::to_string(four) + ' ' + std::to_string(sixteen) + ' ' + std::to_string(all));
  EXPECT_GT(four, 1.3 * sixteen);
  EXPECT_GT(sixteen, all);
}

/// CM-13: "the network volume is quite low when operated below saturation": less than two messages a node.
TEST(Cm5Network, HoldsFewMessagesBelowSaturation) {
  test::Random random(test::seed());
  Nodes nodes(1024);
  std::uint64_t volume = 0;
  constexpr Cycle cycles = 2000;
  for (Cycle cycle = 0; cycle < 2 * cycles; ++cycle) {
    for (NodeNumber node = 0; node < 1024; ++node) {
      if (random.below(48 * 4) == 0) nodes.send(node, node ^ static_cast<NodeNumber>(1 + random.below(1023)));
    }
    nodes.step();
    if (cycle >= cycles) volume += nodes.network.under_way();
  }
  const double mean = static_cast<double>(volume) / cycles / 1024;
  RecordProperty("messages", std::to_string(mean));
  EXPECT_LT(mean, 2);
  EXPECT_GT(mean, 0.25 * 120 / 48 * 0.9)
      << "by Little's law, at a quarter of a link's rate, and no contention";
}

/// CM-14 [V]: messages of a pair overtake each other where others are in their way. What says where its words belong is put together all the
/// same.
TEST(Cm5Network, MessagesOvertakeEachOther) {
  test::Random random(test::seed());
  Nodes nodes(64);
  constexpr Word messages = 300;
  for (Word i = 0; i < messages; ++i) {
    nodes.send(0, 63, 2, i);
    for (NodeNumber other = 1; other < 63; ++other)
      nodes.send(other, (other + 1 + static_cast<NodeNumber>(random.below(61))) % 63, 5, messages);
  }
  nodes.run_dry();
  unsigned overtaken = 0;
  Word last = 0;
  std::vector<Word> together(messages);
  for (const auto& [message, at] : nodes.came[63]) {
    if (message.words[0] < last) ++overtaken;
    last = message.words[0];
    together[last] = message.words[0];
  }
  RecordProperty("overtaken", std::to_string(overtaken));
  EXPECT_GT(overtaken, 0u);
  EXPECT_EQ(nodes.came[63].size(), messages);
  std::vector<Word> all(messages);
  std::iota(all.begin(), all.end(), Word{0});
  EXPECT_EQ(together, all);
}

/// CM-31: what a partition's messages do, and when, is the same whether others send or fall down.
TEST(Cm5Network, PartitionsDoNotDisturbEachOther) {
  const auto run = [](bool others) {
    test::Random random(7);
    Nodes nodes(64);
    for (unsigned i = 0; i < 500; ++i) {
      const auto from = static_cast<NodeNumber>(16 + random.below(16));
      nodes.send(from, 16 + static_cast<NodeNumber>((from + 1 + random.below(15)) % 16), 5, i);
      const auto other = static_cast<NodeNumber>(random.below(16));
      const auto to = static_cast<NodeNumber>((other + 1 + random.below(15)) % 16);
      if (others) nodes.send(other, to);
    }
    for (Cycle cycle = 0; !nodes.is_empty(); ++cycle) {
      if (others && cycle % 100 == 0) nodes.network.all_fall_down({0, 16}, cycle % 200 == 0);
      nodes.step();
    }
    std::vector<std::pair<Word, Cycle>> came;
    for (NodeNumber node = 16; node < 32; ++node) {
      for (const auto& [message, at] : nodes.came[node]) came.emplace_back(message.words[0], at);
    }
    EXPECT_EQ(came.size(), 500u);
    return came;
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace am::cm5::network_test
