// Transfers in the background by outlets and by timelets, and what they leave of the computation (T1 report, 3.9, A.2.2, A.9.2, A.9.3).
#include "emulated_hw/t1/programs/background_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
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
  Cycle computed = 0;  ///< how long it took

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
      const Cycle began = machine.now();
      co_await cpu.cycles(cycles);
      computed = machine.now() - began;
    });
  }
  void until_computed() {
    ASSERT_TRUE(machine.run_until([&] { return computed != 0; }));
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
    nodes.until_computed();
    EXPECT_TRUE(nodes.transfer.is_sent(0));
    EXPECT_EQ(nodes.transfer.failed(0), 0u);
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

/// A node that ticks, and when it did.
struct Ticking {
  Ticking(unsigned period, const std::function<unsigned(std::size_t)>& cycles_of_tick)
      : ticker(cpu, tick_at, period, [this, cycles_of_tick](Processor& here) -> Program {
          at.push_back(here.spent().all);
          co_await here.cycles(cycles_of_tick(at.size()));
        }) {
    cpu.ni().ctc2(Register::enable, 1);
    cpu.ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::tm);
    cpu.run([this](Processor& here) -> Program { co_await ticker.start(here); });
  }
  void step(int cycles) {
    for (int i = 0; i < cycles; ++i) cpu.step();
  }

  Processor cpu{0};
  std::vector<std::uint64_t> at;
  Ticker ticker;
};

// A.2.2: a timelet is pending where Count is timec, and only there. An action that takes longer than the period would set a moment that
// is over, and the next is 2^32 cycles later: such ticks are left out, whatever phase the handler ends in, and the others stay where they
// are.
TEST(T1Ticker, TicksAtEqualIntervalsButForWhatIsOver) {
  for (unsigned longer = 10; longer < 90; ++longer) {
    SCOPED_TRACE(longer);
    Ticking ticking(40, [longer](std::size_t tick) { return tick % 2 == 0 ? longer : 5; });
    ticking.step(4'000);
    const auto& at = ticking.at;
    const std::uint64_t missed = ticking.ticker.missed();
    ASSERT_GE(at.size(), 50u);
    // In phase with the first, but for one that came while the handler was on its way out.
    const auto late =
        std::ranges::count_if(at, [&](std::uint64_t time) { return (time - at.front()) % 40 != 0; });
    EXPECT_LE(static_cast<std::size_t>(late), longer < 20 ? 0 : at.size() / 2);
    if (longer < 20) {
      EXPECT_EQ(missed, 0u);
    }
    EXPECT_GE(at.size() + missed + 2, 4'000 / 40u) << "none is lost uncounted";
    EXPECT_LE(at.size() + missed, 4'000 / 40u);
  }
}

TEST(T1Ticker, StopsAndRefusesPeriodsThatItCannotKeep) {
  const auto nothing = [](std::size_t) { return 0u; };
  EXPECT_THROW(Ticking(7, nothing), std::invalid_argument);
  Ticking ticking(20, nothing);
  ticking.step(100);
  const std::uint64_t ticks = ticking.ticker.ticks();
  EXPECT_GE(ticks, 3u);
  ticking.ticker.stop();
  ticking.step(100);
  EXPECT_EQ(ticking.ticker.ticks(), ticks);
}

}  // namespace background_transfer_test
