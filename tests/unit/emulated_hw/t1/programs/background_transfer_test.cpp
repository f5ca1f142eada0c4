// Transfers in the background by outlets, and what they leave of the computation (T1 report, 3.9, A.9.2).
#include "emulated_hw/t1/programs/background_transfer.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace background_transfer_test {

using namespace am::t1;

constexpr Mesh::Shape four_nodes{.rows = 1, .columns = 4, .wraps = false, .buffers = 2};

struct Nodes {
  Machine machine{four_nodes};
  Memories memories{4, 2048};
  BackgroundTransfer transfer{machine, memories};

  Nodes() {
    for (NodeNumber node = 0; node < 3; ++node) {
      const auto source = memories.block(node, 0, 1000);
      std::iota(source.begin(), source.end(), 1000 * node);
    }
  }
  /// A transfer to node 3, and then so many cycles of computation.
  void transfer_and_compute(NodeNumber from, Word destination, Word words, unsigned cycles) {
    machine.node(from).run([=, this](Processor& cpu) -> Program {
      co_await transfer.start(cpu, {.to = 3, .source = 0, .destination = destination, .words = words});
      EXPECT_FALSE(transfer.has_arrived(from));
      co_await cpu.cycles(cycles);
    });
  }
  void until_arrived(NodeNumber from) {
    ASSERT_TRUE(machine.run_until([&] { return transfer.has_arrived(from); })) << machine.who_waits();
  }
  void expect_copy(NodeNumber from, NodeNumber to, Word destination, Word words) {
    for (Word i = 0; i < words; ++i)
      ASSERT_EQ(memories.at(to, destination + i), 1000 * from + i) << "word " << i;
    ASSERT_EQ(memories.at(to, destination + words), 0u);
  }
};

TEST(T1BackgroundTransfer, MovesAnyNumberOfWords) {
  for (const Word words : {1u, 32u, 33u, 1000u}) {
    Nodes nodes;
    nodes.transfer_and_compute(0, 500, words, 300);
    nodes.until_arrived(0);
    nodes.expect_copy(0, 3, 500, words);
    EXPECT_TRUE(nodes.transfer.is_sent(0));
  }
}

// Where the network is what is slow, because others send to the same node, the computation goes on between pieces.
TEST(T1BackgroundTransfer, ACongestedNetworkLeavesTheComputationItsCycles) {
  Nodes nodes;
  for (const NodeNumber node : {0u, 1u, 2u}) nodes.transfer_and_compute(node, 650 * node, 640, 100'000);
  ASSERT_TRUE(nodes.machine.run_until([&] {
    return nodes.transfer.is_sent(0) && nodes.transfer.is_sent(1) && nodes.transfer.is_sent(2);
  })) << nodes.machine.who_waits();
  // Node 3 takes a piece in about 15 cycles, and there are three senders of one in 27.
  for (const NodeNumber node : {0u, 1u, 2u}) {
    const Processor::Spent& spent = nodes.machine.node(node).spent();
    EXPECT_GT(spent.computing, spent.all / 4) << node;
  }
  for (const NodeNumber node : {0u, 1u, 2u}) {
    nodes.until_arrived(node);
    nodes.expect_copy(node, 3, 650 * node, 640);
  }
}

TEST(T1BackgroundTransfer, IsOneAtATime) {
  Nodes nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 64});
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 64});
  });
  EXPECT_THROW(nodes.machine.run_until([] { return false; }), std::logic_error);
}

}  // namespace background_transfer_test
