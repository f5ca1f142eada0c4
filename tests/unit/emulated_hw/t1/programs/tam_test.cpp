// TAM on T1s: inlets, threads and a heap (T1 report, 2.2.2), and that the scheduler's critical sections are enough (3.4).
#include "emulated_hw/t1/programs/tam.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/t1/programs/experiments.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"

namespace tam_test {

using namespace am::t1;

constexpr Mesh::Shape three_nodes{.rows = 1, .columns = 3, .wraps = false};
constexpr Word frame = 16;

struct Nodes {
  Machine machine{three_nodes};
  Memories memories{3, 128};
  Tam tam{machine, memories};

  void until_ends(NodeNumber node) {
    ASSERT_TRUE(machine.run_until([&] { return machine.node(node).has_ended(); }, 10'000))
        << machine.who_waits();
  }
};

// Two words for one frame: the thread runs once, when both are there, and finds them.
TEST(T1Tam, AThreadRunsWhenAllItsInletsHaveCome) {
  Nodes nodes;
  Tam& tam = nodes.tam;
  std::vector<Word> sums;
  const auto add = tam.thread([&](Processor& cpu, Word at) -> Program {
    co_await cpu.cycles(2 * costs::load + costs::add);
    sums.push_back(nodes.memories.at(0, at) + nodes.memories.at(0, at + 1));
    tam.stop(0);
  });
  const Address left = tam.inlet({.slot = 0, .counter = 2, .thread = add});
  const Address right = tam.inlet({.slot = 1, .counter = 2, .thread = add});
  nodes.memories.at(0, frame + 2) = 2;
  nodes.machine.node(1).run(
      [&](Processor& cpu) -> Program { co_await tam.send(cpu, {.node = 0, .offset = frame}, left, 30); });
  nodes.machine.node(2).run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(200);
    EXPECT_EQ(tam.counts(0).posted, 0u) << "one of two has come";
    co_await tam.send(cpu, {.node = 0, .offset = frame}, right, 12);
  });
  nodes.machine.node(0).run([&](Processor& cpu) -> Program { co_await tam.schedule(cpu); });
  nodes.until_ends(0);
  EXPECT_EQ(sums, (std::vector<Word>{42}));
  EXPECT_EQ(tam.counts(0).frame_switches, 1u);
}

// 2.2.2: the handler "does not perform the computation, and thus does not require much context preserving overhead"; 3.9: a short handler
// is "only about 10 cycles", dispatch and return included.
TEST(T1Tam, InletsTakeAboutTenCycles) {
  for (const Word others : {0u, 1u}) {
    Nodes nodes;
    Tam& tam = nodes.tam;
    const auto nothing = tam.thread([](Processor&, Word) -> Program { co_return; });
    const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = nothing});
    nodes.memories.at(0, frame + 1) = 1 + others;
    nodes.machine.node(1).run(
        [&](Processor& cpu) -> Program { co_await tam.send(cpu, {.node = 0, .offset = frame}, inlet, 7); });
    for (int i = 0; i < 100; ++i) nodes.machine.step();
    const Processor::Spent& spent = nodes.machine.node(0).spent();
    EXPECT_EQ(spent.dispatching, 4u + 1);
    // The word, the counter, the branch; and where it comes to 0 the thread, and its frame, into their lists.
    EXPECT_EQ(spent.handling, others == 0 ? 5u + 5 : 5u);
    EXPECT_EQ(tam.counts(0).posted, others == 0 ? 1u : 0u);
    EXPECT_EQ(nodes.memories.at(0, frame), 7u);
  }
}

// A fetch of what is there: SEND 5, the way, dispatch 4, then the handler, 4 and its SEND 5, the way, dispatch 4 and the inlet.
TEST(T1Tam, AFetchTakesTheSumOfItsParts) {
  Nodes nodes;
  Tam& tam = nodes.tam;
  Cycle began = 0, posted = 0;
  const auto done = tam.thread([](Processor&, Word) -> Program { co_return; });
  const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = done});
  nodes.memories.at(0, frame + 1) = 1;
  nodes.machine.node(2).run([&](Processor& cpu) -> Program {
    co_await tam.i_store(cpu, {.node = 2, .offset = 5}, 55);  // to itself
  });
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(100);
    began = nodes.machine.now();
    co_await tam.i_fetch(cpu, {.node = 2, .offset = 5}, frame, inlet);
  });
  while (posted == 0 && nodes.machine.now() < 1'000) {
    nodes.machine.step();
    if (tam.counts(0).posted == 1) posted = nodes.machine.now();
  }
  EXPECT_EQ(nodes.memories.at(0, frame), 55u);
  EXPECT_EQ(tam.counts(2).deferred, 0u);
  EXPECT_EQ(posted - began, 4 + 5 + in_network(2, 2) + 4 + (4 + 5) + in_network(2, 1) + 4 + 10);
}

// Whoever fetches before the store waits at the element's node, and holds up nothing.
TEST(T1Tam, FetchesBeforeTheStoreAreAnsweredByIt) {
  Nodes nodes;
  Tam& tam = nodes.tam;
  std::vector<NodeNumber> ran;
  const auto use = tam.thread([&](Processor& cpu, Word) -> Program {
    co_await cpu.cycles(1);
    const NodeNumber node = cpu.ni().cfc2(Register::niid);
    ran.push_back(node);
    tam.stop(node);
  });
  const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = use});
  for (const NodeNumber node : {0u, 2u}) {
    nodes.memories.at(node, frame + 1) = 1;
    nodes.machine.node(node).run([&](Processor& cpu) -> Program {
      co_await tam.i_fetch(cpu, {.node = 1, .offset = 40}, frame, inlet);
      co_await tam.schedule(cpu);
    });
  }
  nodes.machine.node(1).run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(500);
    EXPECT_EQ(tam.counts(1).deferred, 2u);
    EXPECT_TRUE(ran.empty());
    co_await tam.i_store(cpu, {.node = 1, .offset = 40}, 77);
  });
  nodes.until_ends(0);
  nodes.until_ends(2);
  EXPECT_EQ(ran.size(), 2u);
  for (const NodeNumber node : {0u, 2u}) EXPECT_EQ(nodes.memories.at(node, frame), 77u);
}

TEST(T1Tam, AnElementIsWrittenOnce) {
  Nodes nodes;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    for (int i = 0; i < 2; ++i) co_await nodes.tam.i_store(cpu, {.node = 1, .offset = 40}, 7);
  });
  try {
    nodes.machine.run_until([] { return false; });
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(), "node 1: element 40 of the heap is written twice");
  }
}

// 3.4: "the modification of a global data structure" by the computation, when a handler changes it, too: whenever a message comes, each
// thread runs once, and the processor's cycles add up.
TEST(T1Tam, NoThreadIsLostWheneverAMessageComes) {
  for (unsigned delay = 0; delay < 80; ++delay) {
    Nodes nodes;
    Tam& tam = nodes.tam;
    int own = 0, others = 0;
    const auto count_own = tam.thread([&](Processor& cpu, Word) -> Program {
      co_await cpu.cycles(3);
      if (++own + others == 8) tam.stop(0);
    });
    const auto count_others = tam.thread([&](Processor& cpu, Word) -> Program {
      co_await cpu.cycles(3);
      if (++others + own == 8) tam.stop(0);
    });
    const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = count_others});
    nodes.machine.node(1).run([&](Processor& cpu) -> Program {
      co_await cpu.cycles(delay);
      for (int i = 0; i < 4; ++i) {
        nodes.memories.at(0, frame + 1) = 1;
        co_await tam.send(cpu, {.node = 0, .offset = frame}, inlet, 1);
        co_await cpu.cycles(40);
      }
    });
    nodes.machine.node(0).run([&](Processor& cpu) -> Program {
      for (int i = 0; i < 4; ++i) co_await tam.post(cpu, frame, count_own);
      co_await tam.schedule(cpu);
    });
    nodes.until_ends(0);
    ASSERT_EQ(own, 4) << delay;
    ASSERT_EQ(others, 4) << delay;
    ASSERT_EQ(tam.counts(0).posted, 8u);
    const Processor::Spent& spent = nodes.machine.node(0).spent();
    ASSERT_EQ(spent.all, spent.computing + spent.dispatching + spent.handling + spent.idle);
  }
}

// 2.2.2: "events affecting scheduling occur often"; "scheduling actions (changing threads) occur less often"; "frame switches occur
// relatively rarely": threads of a frame run one after the other.
TEST(T1Tam, ThreadsOfAFrameRunTogether) {
  Nodes nodes;
  Tam& tam = nodes.tam;
  std::vector<Word> order;
  const auto note = tam.thread([&](Processor& cpu, Word at) -> Program {
    co_await cpu.cycles(1);
    order.push_back(at);
    if (order.size() == 6) tam.stop(0);
  });
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    for (int i = 0; i < 3; ++i) {
      co_await tam.post(cpu, 16, note);
      co_await tam.post(cpu, 32, note);
    }
    co_await tam.schedule(cpu);
  });
  nodes.until_ends(0);
  EXPECT_EQ(order, (std::vector<Word>{16, 16, 16, 32, 32, 32}));
  EXPECT_EQ(tam.counts(0).run, 6u);
  EXPECT_EQ(tam.counts(0).frame_switches, 2u);
}

TEST(T1Tam, HasRoomForSoManyInlets) {
  Nodes nodes;
  for (unsigned i = 0; i < Tam::most_inlets; ++i) static_cast<void>(nodes.tam.inlet({}));
  EXPECT_THROW(static_cast<void>(nodes.tam.inlet({})), std::length_error);
}

}  // namespace tam_test
