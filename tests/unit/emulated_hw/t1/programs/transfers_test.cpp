// Puts, gets and bulk transfers, by Split-C's library and by handlers in hardware: what they do, and what they cost who asks, who is asked
// and who only computes (T1 report, 2.2.1, 3.3, 3.9).
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "emulated_hw/t1/programs/hardware_transfer.hpp"
#include "emulated_hw/t1/programs/split_c.hpp"

namespace transfers_test {

using namespace am::t1;

constexpr Word words_of_memory = 512;

/// Nodes in a row that does not wrap: node n is n hops from node 0.
template <class Transfer>
struct Nodes {
  Nodes() { machine.add_hardware_handlers(memories); }

  /// Until all computations have ended. Node 0's has to have one.
  void until_all_end() {
    ASSERT_TRUE(machine.run_until([&] {
      for (NodeNumber node = 0; node < machine.nodes(); ++node)
        if (!machine.node(node).has_ended()) return false;
      return true;
    })) << machine.who_waits();
  }

  Machine machine{{.rows = 1, .columns = 6, .wraps = false}};
  Memories memories{6, words_of_memory};
  Transfer transfer{machine, memories};
};

// 2.2.1: "Processor A returns to computation immediately."
TEST(T1SplitC, PutReturnsBeforeTheValueIsThere) {
  Nodes<SplitC> nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.put(cpu, {.node = 3, .offset = 17}, 5);
    EXPECT_EQ(nodes.machine.now(), 4 + 5u) << "three words and the counter; 3.10: a send takes about 5";
    EXPECT_EQ(nodes.memories.at(3, 17), 0u);
    EXPECT_EQ(nodes.transfer.pending(0), 1u);
    co_await nodes.transfer.sync(cpu);
    EXPECT_EQ(nodes.transfer.pending(0), 0u);
    EXPECT_EQ(nodes.memories.at(3, 17), 5u);
  });
  nodes.until_all_end();
}

// 2.2.1: "allowing the overlap of global operations with local computation".
TEST(T1SplitC, GetsOverlapEachOtherAndComputation) {
  constexpr Word gets = 16;
  const auto time_of = [&](bool split_phase, unsigned computation) {
    Nodes<SplitC> nodes;
    for (Word i = 0; i < gets; ++i) nodes.memories.at(5, i) = 100 + i;
    nodes.machine.node(0).run([&](Processor& cpu) -> Program {
      for (Word i = 0; i < gets; ++i) {
        co_await nodes.transfer.get(cpu, {.node = 5, .offset = i}, i);
        if (!split_phase) co_await nodes.transfer.sync(cpu);
      }
      co_await cpu.cycles(computation);
      co_await nodes.transfer.sync(cpu);
    });
    nodes.until_all_end();
    for (Word i = 0; i < gets; ++i) EXPECT_EQ(nodes.memories.at(0, i), 100 + i);
    return nodes.machine.now();
  };
  const Cycle one_by_one = time_of(false, 0), at_once = time_of(true, 0);
  EXPECT_LT(at_once * 3, one_by_one);
  // What the processors have to do bounds it from below: node 0 sends all, and has a handler run for each.
  EXPECT_GE(at_once, gets * (4 + 5));
  const unsigned computation = 30;  // while the last ones are under way
  EXPECT_LT(time_of(true, computation), at_once + computation / 2);
}

// 2.2.1, Figures 3 and 4: "since Active Message handlers execute to completion, no special effort is required".
TEST(T1SplitC, FetchAndAddIsAtomic) {
  constexpr int each = 40;
  Nodes<SplitC> nodes;
  std::vector<Word> fetched;
  for (NodeNumber node = 0; node < 6; ++node) {
    if (node == 2) continue;  // the counter's owner computes, and is interrupted
    nodes.machine.node(node).run([&](Processor& cpu) -> Program {
      for (int i = 0; i < each; ++i) {
        Word value = 0;
        co_await nodes.transfer.fetch_and_add(cpu, {.node = 2, .offset = 9}, value);
        fetched.push_back(value);
      }
    });
  }
  nodes.machine.node(2).run([&](Processor& cpu) -> Program { co_await cpu.cycles(3'000); });
  nodes.until_all_end();
  EXPECT_EQ(nodes.memories.at(2, 9), 5u * each);
  EXPECT_EQ(fetched.size(), 5u * each);
  EXPECT_EQ(std::set<Word>(fetched.begin(), fetched.end()).size(), fetched.size()) << "no number twice";
  const Processor::Spent& spent = nodes.machine.node(2).spent();
  EXPECT_EQ(spent.computing, 3'000u);
  EXPECT_EQ(spent.handling, 5u * each * (3 + 5)) << "no send had to be repeated";
}

TEST(T1SplitC, APutOutsideTheMemoryEndsTheSimulation) {
  Nodes<SplitC> nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.put(cpu, {.node = 1, .offset = words_of_memory}, 1);
    co_await nodes.transfer.sync(cpu);
  });
  EXPECT_THAT([&] { nodes.machine.run_until([] { return false; }); },
              testing::ThrowsMessage<Exception>("node 1: address error: no memory of 1 words at word 512"));
}

template <class Transfer>
void expect_block_to_move(Word words) {
  Nodes<Transfer> nodes;
  const auto source = nodes.memories.block(0, 0, words);
  std::iota(source.begin(), source.end(), words + 1);
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.bulk_put(cpu, {.node = 4, .offset = 150}, 0, words);
    co_await nodes.transfer.sync(cpu);
    EXPECT_TRUE(std::ranges::equal(source, nodes.memories.block(4, 150, words)));
    co_await nodes.transfer.bulk_get(cpu, {.node = 4, .offset = 150}, 200, words);
    co_await nodes.transfer.sync(cpu);
    EXPECT_TRUE(std::ranges::equal(source, nodes.memories.block(0, 200, words)));
  });
  nodes.until_all_end();
  for (const Word beside : {149u, 150 + words}) EXPECT_EQ(nodes.memories.at(4, beside), 0u);
  for (const Word beside : {199u, 200 + words}) EXPECT_EQ(nodes.memories.at(0, beside), 0u);
}

TEST(T1BulkTransfers, MoveBlocks) {
  for (const Word words : {0u, 1u, 2u, 5u, 6u, 31u, 32u, 33u, 34u, 100u}) {
    SCOPED_TRACE(words);
    expect_block_to_move<HardwareTransfer>(words);
    if (words != 0) expect_block_to_move<SplitC>(words);
  }
}

// 3.9: gets need nothing of the other's processor: all five others compute, in a critical section.
TEST(T1HardwareTransfer, GetsFromNodesThatComputeWithEventsDisabled) {
  Nodes<HardwareTransfer> nodes;
  Cycle ended = 0;
  for (NodeNumber node = 1; node < 6; ++node) {
    const auto block = nodes.memories.block(node, 0, 80);
    std::iota(block.begin(), block.end(), node * 1000);
    nodes.machine.node(node).run([](Processor& cpu) -> Program {
      co_await cpu.enter_critical();
      co_await cpu.cycles(5'000);
    });
  }
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    for (NodeNumber node = 1; node < 6; ++node)
      co_await nodes.transfer.bulk_get(cpu, {.node = node, .offset = 0}, node * 80, 80);
    co_await nodes.transfer.sync(cpu);
    ended = nodes.machine.now();
  });
  nodes.until_all_end();
  EXPECT_LT(ended, 5'000u);
  for (NodeNumber node = 1; node < 6; ++node) {
    EXPECT_TRUE(
        std::ranges::equal(nodes.memories.block(node, 0, 80), nodes.memories.block(0, node * 80, 80)));
    EXPECT_EQ(nodes.machine.node(node).spent().computing, 5'001u);
    EXPECT_EQ(nodes.machine.node(node).spent().handling, 0u);
  }
}

}  // namespace transfers_test
