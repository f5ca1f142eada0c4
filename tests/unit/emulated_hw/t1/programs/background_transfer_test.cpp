// Transfers in the background by outlets and by timelets, and what they leave of the computation (T1 report, 3.9, A.2.2, A.9.2, A.9.3).
#include "emulated_hw/t1/programs/background_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/ticker.hpp"

namespace background_transfer_test {

using namespace am::t1;

constexpr Address tick_at = 0x7000;
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
    bool computed = false;
    nodes.machine.node(0).run([&](Processor& cpu) -> Program {
      co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = words});
      EXPECT_FALSE(nodes.transfer.has_arrived(0));
      co_await cpu.cycles(300);
      computed = true;
    });
    nodes.until_arrived(0);
    nodes.expect_copy(0, 3, 500, words);
    EXPECT_TRUE(nodes.machine.run_until([&] { return computed; }));
    EXPECT_TRUE(nodes.transfer.is_sent(0));
  }
}

// 3.9: "a large amount of data can be transferred while stealing only a few cycles from the CPU". For a piece of 32 words: to dispatch 4, to
// look whether there is something and load it 1 + 3 + 8 + 1, SEND 5, three sums, two branches, HRET 1; three instructions once switch the
// outlet off.
TEST(T1BackgroundTransfer, StealsSoManyCyclesForEachPiece) {
  constexpr Word pieces = 20;
  Nodes nodes;
  Cycle computed = 0;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 32 * pieces});
    const Cycle began = nodes.machine.now();
    co_await cpu.cycles(5'000);
    computed = nodes.machine.now() - began;
  });
  ASSERT_TRUE(nodes.machine.run_until([&] { return computed != 0; }));
  EXPECT_TRUE(nodes.transfer.has_arrived(0));
  EXPECT_EQ(nodes.transfer.failed(0), 0u);
  const Cycle piece = 4 + (1 + 3 + 8 + 1) + 5 + 3 + 1 + 1;
  EXPECT_EQ(computed, 5'000 + pieces * piece + 3 + (4 + 1 + 1)) << "and the acknowledgement's handler";
  EXPECT_LT(static_cast<double>(piece) / 32, 1) << "less than a cycle per word";
}

// A.9.2: outlets come whenever the network is willing, and it is before the handler is done: the computation stands still until all is
// sent, however long the transfer.
TEST(T1BackgroundTransfer, ByOutletsTheNetworkPacesAndNotTheComputation) {
  Nodes nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 960});
    co_await cpu.cycles(10'000);
  });
  ASSERT_TRUE(nodes.machine.run_until([&] { return nodes.transfer.is_sent(0); }));
  EXPECT_GT(nodes.machine.now(), 960u / 32 * 20);
  EXPECT_EQ(nodes.machine.node(0).spent().computing, 5u + 1 + 3) << "to start it, and none of 10000";
}

// Where the network is what is slow, because others send to the same node, the computation goes on between pieces.
TEST(T1BackgroundTransfer, ACongestedNetworkLeavesTheComputationItsCycles) {
  Nodes nodes;
  for (const NodeNumber node : {0u, 1u, 2u}) {
    nodes.machine.node(node).run([&nodes, node](Processor& cpu) -> Program {
      co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 650 * node, .words = 640});
      co_await cpu.cycles(100'000);
    });
  }
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

// 3.9: timelets "may serve a function similar to the outlet event": a piece every 100 cycles, and the rest is the computation's.
TEST(T1BackgroundTransfer, ByTimeletsTheComputationKeepsItsShare) {
  Nodes nodes;
  Processor& cpu = nodes.machine.node(0);
  Ticker* ticking = nullptr;
  Ticker ticker(cpu, tick_at, 100, [&](Processor& here) -> Program {
    co_await nodes.transfer.attempt(here);
    if (nodes.transfer.is_sent(0)) ticking->stop();
  });
  ticking = &ticker;
  Cycle computed = 0;
  cpu.run([&](Processor& here) -> Program {
    co_await nodes.transfer.prepare(here, {.to = 3, .source = 0, .destination = 500, .words = 320});
    co_await ticker.start(here);
    const Cycle began = nodes.machine.now();
    co_await here.cycles(2'000);
    computed = nodes.machine.now() - began;
  });
  ASSERT_TRUE(nodes.machine.run_until([&] { return computed != 0; }));
  EXPECT_TRUE(nodes.transfer.has_arrived(0));
  nodes.expect_copy(0, 3, 500, 320);
  EXPECT_EQ(ticker.ticks(), 10u);
  EXPECT_EQ(ticker.missed(), 0u);
  EXPECT_LT(computed, 2'000 + 10 * 40u) << "less than 40 of each 100";
}

TEST(T1BackgroundTransfer, IsOneAtATime) {
  Nodes nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 64});
    co_await nodes.transfer.start(cpu, {.to = 3, .source = 0, .destination = 500, .words = 64});
  });
  EXPECT_THROW(nodes.machine.run_until([] { return false; }), std::logic_error);
}

// A.2.2: a timelet is pending where Count is timec, and only there.
TEST(T1Ticker, TicksAtEqualIntervals) {
  Processor cpu(0);
  cpu.ni().ctc2(Register::enable, 1);
  cpu.ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::tm);
  std::vector<std::uint64_t> at;
  Ticker ticker(cpu, tick_at, 50, [&](Processor& here) -> Program {
    at.push_back(here.spent().all);
    co_await here.cycles(5);
  });
  cpu.run([&](Processor& here) -> Program { co_await ticker.start(here); });
  for (int i = 0; i < 1'000; ++i) cpu.step();
  ASSERT_GE(at.size(), 18u);
  for (std::size_t i = 1; i < at.size(); ++i) EXPECT_EQ(at[i] - at[i - 1], 50u);
  EXPECT_EQ(ticker.missed(), 0u);
}

// An action that takes longer than the period would set a moment that is over, and the next is 2^32 cycles later: such ticks are left out,
// whatever phase the handler ends in, and the others stay where they are.
TEST(T1Ticker, LeavesOutWhatIsOver) {
  for (unsigned longer = 30; longer < 90; ++longer) {
    Processor cpu(0);
    cpu.ni().ctc2(Register::enable, 1);
    cpu.ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::tm);
    std::vector<std::uint64_t> at;
    Ticker ticker(cpu, tick_at, 40, [&](Processor& here) -> Program {
      at.push_back(here.spent().all);
      co_await here.cycles(at.size() % 2 == 0 ? longer : 5);
    });
    cpu.run([&](Processor& here) -> Program { co_await ticker.start(here); });
    for (int i = 0; i < 4'000; ++i) cpu.step();
    ASSERT_GE(at.size(), 50u) << longer;
    // In phase with the first, but for one that came while the handler was on its way out.
    std::size_t late = 0;
    for (const std::uint64_t time : at) late += (time - at.front()) % 40 != 0;
    EXPECT_LE(late, at.size() / 2) << longer;
    EXPECT_GE(at.size() + ticker.missed() + 2, 4'000 / 40u) << longer << ": none is lost uncounted";
    EXPECT_LE(at.size() + ticker.missed(), 4'000 / 40u) << longer;
  }
}

TEST(T1Ticker, StopsAndRefusesPeriodsThatItCannotKeep) {
  Processor cpu(0);
  cpu.ni().ctc2(Register::enable, 1);
  cpu.ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::tm);
  const auto nothing = [](Processor&) -> Program { co_return; };
  EXPECT_THROW(Ticker(cpu, tick_at, 7, nothing), std::invalid_argument);
  Ticker ticker(cpu, tick_at, 20, nothing);
  cpu.run([&](Processor& here) -> Program { co_await ticker.start(here); });
  for (int i = 0; i < 100; ++i) cpu.step();
  const std::uint64_t ticks = ticker.ticks();
  EXPECT_GE(ticks, 3u);
  ticker.stop();
  for (int i = 0; i < 100; ++i) cpu.step();
  EXPECT_EQ(ticker.ticks(), ticks);
}

}  // namespace background_transfer_test
