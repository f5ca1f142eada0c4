// The control network of the CM-5: criterion CM-25 (von Eicken 1993, 3.2.3).
#include "emulated_hw/cm5/control_network.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace am::cm5::control_network_test {

using Kind = ControlOperation::Kind;
constexpr ControlOperation barrier{};

Cycle until_result(ControlNetwork& network, NodeNumber node, kit::Word& result) {
  const Cycle begun = network.now();
  for (;; network.step()) {
    if (const auto word = network.result(node)) {
      result = *word;
      return network.now() - begun;
    }
    if (network.now() - begun > 1000) throw std::runtime_error("nothing comes");
  }
}

/// CM-25, C-1: reductions and scans of random words, of any number of nodes, any of which abstain; and they take up and down the tree.
TEST(Cm5ControlNetwork, ReducesAndScans) {
  test::Random random(test::seed());
  for (const NodeNumber count : {2u, 5u, 16u, 100u}) {
    ControlNetwork network(count);
    EXPECT_EQ(network.latency(), 2 * 8 * Tree(count).levels());
    for (const Combiner combiner : {Combiner::sum, Combiner::maximum}) {
      for (const Kind kind : {Kind::reduction, Kind::scan}) {
        const ControlOperation operation{.kind = kind, .combiner = combiner, .root = ControlOperation::all};
        std::vector<std::optional<kit::Word>> values(count);
        for (NodeNumber node = 0; node < count; ++node) {
          const bool abstains = node != 0 && random.one_in(4);
          network.abstain(node, abstains);
          if (!abstains) values[node] = random();
        }
        for (NodeNumber node = count; node-- > 0;) {
          if (values[node]) network.take_part(node, operation, *values[node]);
        }
        kit::Word got = 0;
        EXPECT_EQ(until_result(network, 0, got), network.latency());
        std::vector<kit::Word> before(count + 1);  // each node
        for (NodeNumber node = 0; node < count; ++node) {
          const auto value = values[node];
          before[node + 1] = !value      ? before[node]
                             : node == 0 ? *value
                                         : combined(combiner, before[node], *value);
        }
        for (NodeNumber node = 0; node < count; ++node) {
          const auto result = node == 0 ? got : network.result(node);
          const kit::Word right = kind == Kind::scan ? before[node] : before[count];
          ASSERT_EQ(result.has_value(), values[node].has_value());
          EXPECT_EQ(result.value_or(right), right);
        }
      }
    }
  }
}

/// CM-25: a barrier waits for all that do not abstain, and for no others. One sends a broadcast, and all get it.
TEST(Cm5ControlNetwork, WaitsForAllThatDoNotAbstain) {
  ControlNetwork network(8);
  network.abstain(5, true);
  for (const NodeNumber node : {0u, 1u, 2u, 3u, 4u, 6u}) network.take_part(node, barrier);
  for (int i = 0; i < 100; ++i) network.step();
  EXPECT_FALSE(network.result(0));
  EXPECT_NE(kit::who_waits(network).find("node 0: in the control network, waits for node 7"),
            std::string::npos);
  network.take_part(7, barrier);
  kit::Word word = 0;
  EXPECT_EQ(until_result(network, 3, word), network.latency());
  for (const NodeNumber node : {0u, 1u, 2u, 4u, 6u, 7u}) EXPECT_TRUE(network.result(node));
  EXPECT_FALSE(network.result(5));
  network.abstain(5, false);
  for (NodeNumber node = 0; node < 8; ++node)
    network.take_part(node, {.kind = Kind::broadcast, .root = 6}, 36 + node);
  until_result(network, 5, word);
  EXPECT_EQ(word, 42u);
}

/// CM-25: not by subsets, and not without agreement.
TEST(Cm5ControlNetwork, RefusesSubsets) {
  ControlNetwork network(4);
  const ControlOperation broadcast{.kind = Kind::broadcast};
  network.take_part(0, broadcast, 1);
  EXPECT_THROW(network.take_part(0, broadcast, 1), std::logic_error);
  EXPECT_THROW(network.take_part(1, barrier), std::logic_error);
  EXPECT_THROW(network.take_part(1, {.kind = Kind::broadcast, .root = 1}, 1), std::logic_error);
  EXPECT_THROW(network.abstain(0, true), std::logic_error);
  network.abstain(3, true);
  EXPECT_THROW(network.take_part(3, broadcast), std::logic_error);
}

/// CM-25: the partition manager's commands go first, to all nodes, and interrupt them.
TEST(Cm5ControlNetwork, CommandsComeFirst) {
  ControlNetwork network(4);
  network.abstain(3, true);
  for (NodeNumber node = 0; node < 3; ++node) network.take_part(node, barrier);
  network.command(7);
  network.command(8);
  for (Cycle cycle = 0; cycle < 2 * network.latency(); ++cycle) {
    EXPECT_EQ(network.interrupts(3), cycle >= network.latency());
    network.step();
  }
  EXPECT_FALSE(network.result(0));
  for (NodeNumber node = 0; node < 4; ++node) {
    EXPECT_EQ(network.take_command(node), 7u);
    EXPECT_EQ(network.take_command(node), 8u);
    EXPECT_FALSE(network.interrupts(node));
  }
  kit::Word word = 0;
  EXPECT_EQ(until_result(network, 0, word), network.latency());
}

}  // namespace am::cm5::control_network_test
