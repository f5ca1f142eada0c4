// Gets and bulk transfers by handlers in hardware: what they move, and that who is asked computes on (T1 report, 2.2.1, 3.3, 3.9).
#include "emulated_hw/t1/programs/hardware_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "emulated_hw/t1/programs/experiments.hpp"

namespace hardware_transfer_test {

using namespace am::t1;

constexpr Word words_of_memory = 512;

struct Nodes {
  Nodes() { machine.add_hardware_handlers(memories); }

  void until_ends(NodeNumber node) {
    ASSERT_TRUE(machine.run_until([&] { return machine.node(node).has_ended(); })) << machine.who_waits();
  }

  Machine machine{{.rows = 1, .columns = 6, .wraps = false}};
  Memories memories{6, words_of_memory};
  HardwareTransfer transfer{machine, memories};
};

TEST(T1HardwareTransfer, MovesBlocks) {
  for (const Word words : {0u, 1u, 2u, 5u, 6u, 32u, 33u, 34u, 100u}) {
    Nodes nodes;
    const auto source = nodes.memories.block(0, 0, words);
    std::iota(source.begin(), source.end(), words + 1);
    nodes.machine.node(0).run([&](Processor& cpu) -> Program {
      co_await nodes.transfer.bulk_put(cpu, {.node = 4, .offset = 50}, 0, words);
      co_await nodes.transfer.sync(cpu);
      EXPECT_TRUE(std::ranges::equal(source, nodes.memories.block(4, 50, words)));
      co_await nodes.transfer.bulk_get(cpu, {.node = 4, .offset = 50}, 200, words);
      co_await nodes.transfer.sync(cpu);
      EXPECT_TRUE(std::ranges::equal(source, nodes.memories.block(0, 200, words)));
    });
    nodes.until_ends(0);
    for (const Word behind : {49u, 50 + words}) EXPECT_EQ(nodes.memories.at(4, behind), 0u);
    for (const Word behind : {199u, 200 + words}) EXPECT_EQ(nodes.memories.at(0, behind), 0u);
  }
}

// 3.9: gets need nothing of the other's processor: all five others compute, in a critical section.
TEST(T1HardwareTransfer, GetsFromNodesThatComputeWithEventsDisabled) {
  Nodes nodes;
  for (NodeNumber node = 1; node < 6; ++node) {
    const auto block = nodes.memories.block(node, 0, 80);
    std::iota(block.begin(), block.end(), node * 1000);
    nodes.machine.node(node).run([](Processor& cpu) -> Program {
      co_await cpu.enter_critical();
      co_await cpu.cycles(100'000);
    });
  }
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    for (NodeNumber node = 1; node < 6; ++node)
      co_await nodes.transfer.bulk_get(cpu, {.node = node, .offset = 0}, node * 80, 80);
    co_await nodes.transfer.sync(cpu);
  });
  nodes.until_ends(0);
  for (NodeNumber node = 1; node < 6; ++node) {
    EXPECT_TRUE(
        std::ranges::equal(nodes.memories.block(node, 0, 80), nodes.memories.block(0, node * 80, 80)));
    const Processor::Spent& spent = nodes.machine.node(node).spent();
    EXPECT_EQ(spent.computing, spent.all);
  }
}

TEST(T1HardwareTransfer, AGetOutsideTheMemoryEndsTheSimulation) {
  Nodes nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.get(cpu, {.node = 1, .offset = words_of_memory}, 0);
    co_await nodes.transfer.sync(cpu);
  });
  try {
    nodes.machine.run_until([] { return false; });
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(), "node 1: address error: 0xfffffffc: the node has no such memory");
  }
}

}  // namespace hardware_transfer_test
