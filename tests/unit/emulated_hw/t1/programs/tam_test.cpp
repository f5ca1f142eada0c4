// TAM on T1s: inlets and threads (T1 report, 2.2.2), and that the scheduler's critical sections are enough (3.4).
#include "emulated_hw/t1/programs/tam.hpp"

#include <gtest/gtest.h>

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
class T1Tam : public testing::Test, protected Nodes {};

// Two words for one frame: the thread runs once, when both are there, and finds them.
TEST_F(T1Tam, AThreadRunsWhenAllItsInletsHaveCome) {
  std::vector<Word> sums;
  const auto add = tam.thread([&](Processor& cpu, Word at) -> Program {
    co_await cpu.cycles(2 * costs::load + costs::add);
    sums.push_back(memories.at(0, at) + memories.at(0, at + 1));
    tam.stop(0);
  });
  const Address left = tam.inlet({.slot = 0, .counter = 2, .thread = add});
  const Address right = tam.inlet({.slot = 1, .counter = 2, .thread = add});
  memories.at(0, frame + 2) = 2;
  machine.node(1).run(
      [&](Processor& cpu) -> Program { co_await tam.send(cpu, {.node = 0, .offset = frame}, left, 30); });
  machine.node(2).run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(200);
    EXPECT_EQ(tam.counts(0).posted, 0u) << "one of two has come";
    co_await tam.send(cpu, {.node = 0, .offset = frame}, right, 12);
  });
  machine.node(0).run([&](Processor& cpu) -> Program { co_await tam.schedule(cpu); });
  until_ends(0);
  EXPECT_EQ(sums, (std::vector<Word>{42}));
  EXPECT_EQ(tam.counts(0).frame_switches, 1u);
}

// 3.4: "the modification of a global data structure" by the computation, when a handler changes it, too: whenever a message comes, each
// thread runs once, and the processor's cycles add up.
TEST_F(T1Tam, NoThreadIsLostWheneverAMessageComes) {
  for (unsigned delay = 0; delay < 80; ++delay) {
    Nodes nodes;
    int own = 0, others = 0;
    const auto counting = [&](int& counter) {
      return nodes.tam.thread([&](Processor& cpu, Word) -> Program {
        co_await cpu.cycles(3);
        ++counter;
        if (own + others == 8) nodes.tam.stop(0);
      });
    };
    const auto count_own = counting(own), count_others = counting(others);
    const Address inlet = nodes.tam.inlet({.slot = 0, .counter = 1, .thread = count_others});
    nodes.machine.node(1).run([&](Processor& cpu) -> Program {
      co_await cpu.cycles(delay);
      for (int i = 0; i < 4; ++i) {
        nodes.memories.at(0, frame + 1) = 1;
        co_await nodes.tam.send(cpu, {.node = 0, .offset = frame}, inlet, 1);
        co_await cpu.cycles(40);
      }
    });
    nodes.machine.node(0).run([&](Processor& cpu) -> Program {
      for (int i = 0; i < 4; ++i) co_await nodes.tam.post(cpu, frame, count_own);
      co_await nodes.tam.schedule(cpu);
    });
    nodes.until_ends(0);
    ASSERT_EQ(own, 4) << delay;
    ASSERT_EQ(others, 4) << delay;
    ASSERT_EQ(nodes.tam.counts(0).posted, 8u);
    const Processor::Spent& spent = nodes.machine.node(0).spent();
    ASSERT_EQ(spent.all, spent.computing + spent.dispatching + spent.handling + spent.idle);
  }
}

// 2.2.2: "events affecting scheduling occur often"; "scheduling actions (changing threads) occur less often"; "frame switches occur
// relatively rarely": threads of a frame run one after the other.
TEST_F(T1Tam, ThreadsOfAFrameRunTogether) {
  std::vector<Word> order;
  const auto note = tam.thread([&](Processor& cpu, Word at) -> Program {
    co_await cpu.cycles(1);
    order.push_back(at);
    if (order.size() == 6) tam.stop(0);
  });
  machine.node(0).run([&](Processor& cpu) -> Program {
    for (int i = 0; i < 3; ++i) {
      co_await tam.post(cpu, 16, note);
      co_await tam.post(cpu, 32, note);
    }
    co_await tam.schedule(cpu);
  });
  until_ends(0);
  EXPECT_EQ(order, (std::vector<Word>{16, 16, 16, 32, 32, 32}));
  EXPECT_EQ(tam.counts(0).run, 6u);
  EXPECT_EQ(tam.counts(0).frame_switches, 2u);
}

TEST_F(T1Tam, HasRoomForSoManyInlets) {
  for (unsigned i = 0; i < Tam::most_inlets; ++i) static_cast<void>(tam.inlet({}));
  EXPECT_THROW(static_cast<void>(tam.inlet({})), std::length_error);
}

}  // namespace tam_test
