// The control network of the CM-5: criterion CM-25 (von Eicken 1993, 3.2.3).
#include "emulated_hw/cm5/control_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/random.hpp"

namespace am::cm5::control_network_test {

using Operation = ControlNetwork::Operation;

Cycle until_result(ControlNetwork& network, NodeNumber node, Word& result) {
  const Cycle begun = network.now();
  for (;; network.step()) {
    if (const auto word = network.result(node)) {
      result = *word;
      return network.now() - begun;
    }
    if (network.now() - begun > 1000) throw std::runtime_error("nothing comes");
  }
}

/// CM-25, C-1: reductions and scans of random integers, of any number of nodes, any of which abstain; and they take up and down the tree.
TEST(Cm5ControlNetwork, ReducesAndScans) {
  test::Random random(test::seed());
  for (const NodeNumber count : {2u, 5u, 16u, 100u}) {
    ControlNetwork network(count);
    EXPECT_EQ(network.latency(), 2 * 8 * Tree(count).levels());
    for (const Operation operation :
         {Operation::add, Operation::maximum, Operation::scan_add, Operation::scan_maximum}) {
      const bool is_scan = operation == Operation::scan_add || operation == Operation::scan_maximum;
      const bool adds = operation == Operation::add || operation == Operation::scan_add;
      std::vector<std::optional<std::int32_t>> values(count);
      for (NodeNumber node = 0; node < count; ++node) {
        const bool abstains = node != 0 && random.one_in(4);
        network.abstain(node, abstains);
        if (!abstains) values[node] = static_cast<std::int32_t>(random());
      }
      for (NodeNumber node = count; node-- > 0;) {
        if (values[node]) network.take_part(node, operation, static_cast<Word>(*values[node]));
      }
      Word got = 0;
      EXPECT_EQ(until_result(network, 0, got), network.latency());
      std::optional<std::int32_t> all;
      std::vector<Word> expected(count);
      for (NodeNumber node = 0; node < count; ++node) {
        if (!values[node]) continue;
        const auto sum =
            static_cast<std::int32_t>(static_cast<Word>(all.value_or(0)) + static_cast<Word>(*values[node]));
        all = !all ? *values[node] : adds ? sum : std::max(*all, *values[node]);
        expected[node] = static_cast<Word>(*all);
      }
      for (NodeNumber node = 0; node < count; ++node) {
        const auto result = node == 0 ? got : network.result(node);
        ASSERT_EQ(result.has_value(), values[node].has_value());
        EXPECT_EQ(result.value_or(expected[node]),
                  is_scan || !result ? expected[node] : static_cast<Word>(*all));
      }
    }
  }
}

/// CM-25: a barrier waits for all that do not abstain, and for no others. One sends a broadcast, and all get it.
TEST(Cm5ControlNetwork, WaitsForAllThatDoNotAbstain) {
  ControlNetwork network(8);
  network.abstain(5, true);
  for (NodeNumber node = 0; node < 7; ++node) {
    if (node != 5) network.take_part(node, Operation::barrier);
  }
  for (int i = 0; i < 100; ++i) network.step();
  EXPECT_FALSE(network.result(0));
  EXPECT_NE(kit::who_waits(network).find("node 0: in the control network, waits for node 7"),
            std::string::npos);
  network.take_part(7, Operation::barrier);
  Word word = 0;
  EXPECT_EQ(until_result(network, 3, word), network.latency());
  for (const NodeNumber node : {0u, 1u, 2u, 4u, 6u, 7u}) EXPECT_TRUE(network.result(node));
  EXPECT_FALSE(network.result(5));
  network.abstain(5, false);
  for (NodeNumber node = 0; node < 8; ++node)
    network.take_part(node, Operation::broadcast, node == 6 ? std::optional<Word>(42) : std::nullopt);
  until_result(network, 5, word);
  EXPECT_EQ(word, 42u);
}

/// CM-25: not by subsets, and not without agreement.
TEST(Cm5ControlNetwork, RefusesSubsets) {
  ControlNetwork network(4);
  network.take_part(0, Operation::add, 1);
  EXPECT_THROW(network.take_part(0, Operation::add, 1), std::logic_error);
  EXPECT_THROW(network.take_part(1, Operation::barrier), std::logic_error);
  EXPECT_THROW(network.take_part(1, Operation::add), std::logic_error);
  EXPECT_THROW(network.abstain(0, true), std::logic_error);
  network.abstain(3, true);
  EXPECT_THROW(network.take_part(3, Operation::add, 1), std::logic_error);
  ControlNetwork two(2);
  two.take_part(0, Operation::broadcast, 1);
  EXPECT_THROW(two.take_part(1, Operation::broadcast, 1), std::logic_error);
}

/// CM-25: the partition manager's commands go first, to all nodes, and interrupt them.
TEST(Cm5ControlNetwork, CommandsComeFirst) {
  ControlNetwork network(4);
  network.abstain(3, true);
  for (NodeNumber node = 0; node < 3; ++node) network.take_part(node, Operation::barrier);
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
  Word word = 0;
  EXPECT_EQ(until_result(network, 0, word), network.latency());
}

}  // namespace am::cm5::control_network_test
