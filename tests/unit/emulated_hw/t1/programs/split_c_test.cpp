// Split-C's library on T1s: what it does, and what it costs who asks, who is asked and who only computes (T1 report, 2.2.1, 3.9).
#include "emulated_hw/t1/programs/split_c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "emulated_hw/t1/programs/experiments.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace split_c_test {

using namespace am::t1;

/// Nodes in a row that does not wrap: node n is n hops from node 0.
class T1SplitC : public testing::Test {
 protected:
  using Computation = std::function<Program(Processor&)>;
  void run(NodeNumber node, const Computation& computation) { machine_.node(node).run(computation); }
  /// Until all computations have ended. Node 0's has to have one.
  void until_all_end() {
    ASSERT_TRUE(machine_.run_until([&] {
      for (NodeNumber node = 0; node < machine_.nodes(); ++node)
        if (!machine_.node(node).has_ended()) return false;
      return true;
    })) << machine_.who_waits();
  }
  void until_quiet() {
    ASSERT_TRUE(machine_.run_until([&] { return machine_.mesh().under_way() == 0; }));
    for (int i = 0; i < 200; ++i) machine_.step();
  }

  Machine machine_{{.rows = 1, .columns = 6, .wraps = false}};
  Memories memories_{6, 256};
  SplitC split_c_{machine_, memories_};
};

// 2.2.1: "Processor A returns to computation immediately."
TEST_F(T1SplitC, PutReturnsBeforeTheValueIsThere) {
  Cycle returned = 0, synced = 0;
  Word value_on_return = 99;
  run(0, [&](Processor& cpu) -> Program {
    co_await split_c_.put(cpu, {.node = 3, .offset = 17}, 5);
    returned = machine_.now();
    value_on_return = memories_.at(3, 17);
    EXPECT_EQ(split_c_.pending(0), 1u);
    co_await split_c_.sync(cpu);
    synced = machine_.now();
    EXPECT_EQ(split_c_.pending(0), 0u);
  });
  until_all_end();
  EXPECT_EQ(value_on_return, 0u);
  EXPECT_EQ(memories_.at(3, 17), 5u);
  EXPECT_EQ(returned, 4 + 5u) << "three words and the counter; 3.10: a send takes about 5";
  // The request has 3 words and so 2 flits, the answer none and so 1. Each end dispatches in 4; the store is 1, the answer's send 5.
  const Cycle there = in_network(3, 2) + 4, back = in_network(3, 1) + 4;
  const Cycle counted = returned + there + 1 + 5 + back + 1;
  EXPECT_GT(synced, counted) << "HRET, then the loop sees it";
  EXPECT_LE(synced, counted + costs::hret + costs::look + 1);
}

// 3.9: "a short software handler may require a total (dispatch, execution, and return) of only about 10 cycles".
TEST_F(T1SplitC, HandlersTakeAboutTenCyclesInAll) {
  run(0, [&](Processor& cpu) -> Program { co_await split_c_.put(cpu, {.node = 1, .offset = 3}, 8); });
  until_quiet();
  const Processor::Spent& owner = machine_.node(1).spent();
  EXPECT_EQ(owner.dispatching + owner.handling, 4u + 1 + 5 + 1) << "with the acknowledgement that it sends";
  const Processor::Spent& origin = machine_.node(0).spent();
  EXPECT_EQ(origin.dispatching + origin.handling, 4u + 1 + 1) << "that counts";
}

// 2.2.1: "allowing the overlap of global operations with local computation".
TEST_F(T1SplitC, GetsOverlapEachOtherAndComputation) {
  constexpr Word gets = 16;
  for (Word i = 0; i < gets; ++i) memories_.at(5, i) = 100 + i;
  const auto time_of = [&](bool split_phase, unsigned computation) {
    Machine machine({.rows = 1, .columns = 6, .wraps = false});
    SplitC split_c(machine, memories_);
    std::ranges::fill(memories_.block(0, 0, gets), 0u);
    machine.node(0).run([&](Processor& cpu) -> Program {
      for (Word i = 0; i < gets; ++i) {
        co_await split_c.get(cpu, {.node = 5, .offset = i}, i);
        if (!split_phase) co_await split_c.sync(cpu);
      }
      co_await cpu.cycles(computation);
      co_await split_c.sync(cpu);
    });
    EXPECT_TRUE(machine.run_until([&] { return machine.node(0).has_ended(); }));
    for (Word i = 0; i < gets; ++i) EXPECT_EQ(memories_.at(0, i), 100 + i);
    return machine.now();
  };
  const Cycle one_by_one = time_of(false, 0), at_once = time_of(true, 0);
  EXPECT_LT(at_once * 3, one_by_one);
  // What the processors have to do bounds it from below: node 0 sends all, and has a handler run for each.
  EXPECT_GE(at_once, gets * (4 + 5));
  const unsigned computation = 30;  // while the last ones are under way
  EXPECT_LT(time_of(true, computation), at_once + computation / 2);
}

// 2.2.1, Figures 3 and 4: "since Active Message handlers execute to completion, no special effort is required".
TEST_F(T1SplitC, FetchAndAddIsAtomic) {
  constexpr int each = 40;
  std::vector<Word> fetched;
  for (NodeNumber node = 0; node < 6; ++node) {
    if (node == 2) continue;  // the counter's owner computes, and is interrupted
    run(node, [&](Processor& cpu) -> Program {
      for (int i = 0; i < each; ++i) {
        Word value = 0;
        co_await split_c_.fetch_and_add(cpu, {.node = 2, .offset = 9}, value);
        fetched.push_back(value);
      }
    });
  }
  run(2, [&](Processor& cpu) -> Program { co_await cpu.cycles(3'000); });
  until_all_end();
  EXPECT_EQ(memories_.at(2, 9), 5u * each);
  EXPECT_EQ(fetched.size(), 5u * each);
  EXPECT_EQ(std::set<Word>(fetched.begin(), fetched.end()).size(), fetched.size()) << "no number twice";
  EXPECT_EQ(machine_.node(2).spent().computing, 3'000u);
  EXPECT_EQ(machine_.node(2).spent().handling, 5u * each * (3 + 5)) << "no send had to be repeated";
}

// 2.2.1: bulk transfers by vectors, "up to 32 words of data with the same small overhead": the same number of cycles for the send, and
// by what the memory takes more.
TEST_F(T1SplitC, BulkTransfersMoveBlocks) {
  for (const Word words : {1u, 31u, 32u, 33u, 100u}) {
    std::ranges::fill(memories_.block(4, 0, 256), 0u);
    std::ranges::fill(memories_.block(0, 128, 128), 0u);
    const auto source = memories_.block(0, 0, words);
    std::iota(source.begin(), source.end(), words);
    Machine machine({.rows = 1, .columns = 6, .wraps = false});
    SplitC split_c(machine, memories_);
    machine.node(0).run([&](Processor& cpu) -> Program {
      co_await split_c.bulk_put(cpu, {.node = 4, .offset = 50}, 0, words);
      co_await split_c.sync(cpu);
      co_await split_c.bulk_get(cpu, {.node = 4, .offset = 50}, 128, words);
      co_await split_c.sync(cpu);
    });
    ASSERT_TRUE(machine.run_until([&] { return machine.node(0).has_ended(); })) << machine.who_waits();
    for (Word i = 0; i < words; ++i) {
      ASSERT_EQ(memories_.at(4, 50 + i), words + i);
      ASSERT_EQ(memories_.at(0, 128 + i), words + i);
    }
    EXPECT_EQ(memories_.at(4, 50 + words), 0u);
    EXPECT_EQ(memories_.at(0, 128 + words), 0u);
  }
}

TEST_F(T1SplitC, BulkPutsTakeFewerCyclesPerWordThanPuts) {
  const auto cycles = [&](bool bulk) {
    Machine machine({.rows = 1, .columns = 2, .wraps = false});
    Memories memories(2, 64);
    SplitC split_c(machine, memories);
    machine.node(0).run([&](Processor& cpu) -> Program {
      if (bulk) {
        co_await split_c.bulk_put(cpu, {.node = 1, .offset = 0}, 0, 32);
      } else {
        for (Word i = 0; i < 32; ++i) co_await split_c.put(cpu, {.node = 1, .offset = i}, i);
      }
    });
    EXPECT_TRUE(machine.run_until([&] { return machine.node(0).has_ended(); }));
    return machine.node(0).spent().computing;
  };
  EXPECT_EQ(cycles(true), 3u + 8 + 1 + 5 + 3) << "8 cycles from memory, over 128 bits (3.2)";
  EXPECT_GE(cycles(false), 32u * (4 + 5));
}

TEST_F(T1SplitC, APutOutsideTheMemoryEndsTheSimulation) {
  run(0, [&](Processor& cpu) -> Program { co_await split_c_.put(cpu, {.node = 1, .offset = 256}, 1); });
  try {
    until_quiet();
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(), "node 1: address error: no memory of 1 words at word 256");
  }
}

}  // namespace split_c_test
