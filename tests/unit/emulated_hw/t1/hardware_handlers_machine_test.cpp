// Handlers in hardware on a whole machine: that processors have no part in them, that nothing waits in a circle, whatever is asked and
// forwarded, and that the order in which nodes are stepped cannot be seen (T1 report, 3.3, 3.5, 3.9, A.10).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/programs/experiments.hpp"
#include "emulated_hw/t1/programs/sending.hpp"
#include "support/random.hpp"

namespace hardware_handlers_machine_test {

using namespace am::t1;

constexpr Address handler = 0x4000;
constexpr Word words_of_memory = 1024;
constexpr Word results = 512;  // words from here on are not what others fetch

struct Nodes {
  explicit Nodes(const Mesh::Shape& shape) : machine(shape), memories(machine.nodes(), words_of_memory) {
    machine.add_hardware_handlers(memories);
    for (NodeNumber node = 0; node < machine.nodes(); ++node)
      for (Word i = 0; i < results; ++i) memories.at(node, i) = node * results + i;
  }
  [[nodiscard]] std::uint64_t handled(NodeNumber node) const {
    const HardwareHandlers::Counts& counts = machine.hardware(node).counts();
    return counts.fetched + counts.stored + counts.forwarded;
  }
  [[nodiscard]] std::uint64_t handled() const {
    std::uint64_t all = 0;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) all += handled(node);
    return all;
  }

  Machine machine;
  Memories memories;
};

Program send(Processor& cpu, Priority priority, NodeNumber to, Address at,
             const std::array<Word, most_scalars>& scalars, unsigned count, unsigned vector = 0) {
  cpu.registers().data = scalars;
  co_await send_until_accepted(cpu, {.scalars = count, .vector = vector != 0, .priority = priority}, to, at,
                               vector);
}

// 3.9: a fetch is as long under way as two messages are, and in the interface for as long as it accesses memory; its node computes on.
TEST(T1HardwareMachine, AFetchTakesTheSumOfItsPartsAndNothingOfTheProcessor) {
  for (const NodeNumber to : {1u, 3u, 5u}) {
    for (const Word words : {1u, 32u}) {
      Nodes nodes({.rows = 1, .columns = 6, .wraps = false});
      Machine& machine = nodes.machine;
      Cycle ended = 0;
      machine.node(0).place(handler, [&](Processor& cpu) -> Program {
        ended = machine.now();
        co_await cpu.cycles(1);
      });
      machine.node(0).run([&](Processor& cpu) -> Program {
        co_await send(cpu, Priority::low, to, hardware::fetch, {0, handler, 40, words, 0}, 5);
      });
      machine.node(to).run([](Processor& cpu) -> Program {
        co_await cpu.enter_critical();
        co_await cpu.cycles(199);
      });
      for (int i = 0; i < 200; ++i) machine.step();
      EXPECT_EQ(ended, costs::send + in_network(to, 2) + (1 + (words + 3) / 4 + 1) +
                           in_network(to, words == 1 ? 1 : 9) + costs::dispatch);
      EXPECT_EQ(machine.node(to).spent().computing, 200u);
      EXPECT_TRUE(machine.node(to).has_ended());
    }
  }
}

// "useful in some randomized algorithms, or whenever the user wants more control over the path taken by packets".
TEST(T1HardwareMachine, AForwardedMessageComesByTheNodeThatItIsSentTo) {
  Nodes nodes({.rows = 4, .columns = 4, .wraps = false});
  Machine& machine = nodes.machine;
  std::vector<Word> came;
  machine.node(15).place(handler, [&](Processor& cpu) -> Program {
    came.push_back(cpu.registers().data[0]);
    co_await cpu.cycles(1);
  });
  machine.node(0).run([](Processor& cpu) -> Program {
    for (Word i = 0; i < 20; ++i)
      co_await send(cpu, Priority::low, 12, hardware::forward, {15, handler, i}, 3);
  });
  ASSERT_TRUE(machine.run_until([&] { return came.size() == 20; })) << machine.who_waits();
  for (Word i = 0; i < 20; ++i) EXPECT_EQ(came[i], i) << "in order";
  EXPECT_EQ(nodes.handled(12), 20u);
  EXPECT_EQ(machine.node(12).spent().idle, machine.node(12).spent().all);
}

// One that names its sender, and itself again: it has high priority when it comes back, and is refused there.
TEST(T1HardwareMachine, AForwardedMessageIsNotForwardedForEver) {
  for (const NodeNumber by : {0u, 1u}) {
    Nodes nodes({.rows = 1, .columns = 2, .wraps = false});
    nodes.machine.node(0).run([by](Processor& cpu) -> Program {
      co_await send(cpu, Priority::low, by, hardware::forward,
                    {0, hardware::forward, 0, hardware::forward, 0}, 5);
    });
    try {
      nodes.machine.run_until([] { return false; });
      FAIL();
    } catch (const Exception& error) {
      EXPECT_STREQ(error.what(),
                   "node 0: address error: 0xfffffff4: it would wait to send, and has high priority");
    }
    EXPECT_EQ(nodes.handled(), 1u);
  }
}

// 3.3: messages between two nodes come in order, so who hears of the last has all that was stored before.
TEST(T1HardwareMachine, AMessageBehindStoresFindsThemDone) {
  Nodes nodes({.rows = 1, .columns = 4, .wraps = false});
  Machine& machine = nodes.machine;
  bool came = false;
  machine.node(3).place(handler, [&](Processor& cpu) -> Program {
    for (Word i = 0; i < 10 * most_vector; ++i) EXPECT_EQ(nodes.memories.at(3, results + i), 1 + i);
    came = true;
    co_await cpu.cycles(1);
  });
  machine.node(0).run([](Processor& cpu) -> Program {
    for (Word i = 0; i < 10; ++i) {
      std::iota(cpu.registers().vr1.begin(), cpu.registers().vr1.end(), 1 + i * most_vector);
      co_await send(cpu, Priority::low, 3, hardware::store, {4 * (results + i * most_vector)}, 1,
                    most_vector);
    }
    co_await send(cpu, Priority::low, 3, handler, {}, 0);
  });
  ASSERT_TRUE(machine.run_until([&] { return came; })) << machine.who_waits();
}

// A.8: each copy of a multicast is stored.
TEST(T1HardwareMachine, AMulticastStoresAtEveryNodeOnItsWay) {
  Nodes nodes({.rows = 1, .columns = 5, .wraps = false});
  nodes.machine.node(0).run([](Processor& cpu) -> Program {
    cpu.registers().data = {4 * results, 7};
    co_await cpu.send({.scalars = 2, .multicast = true}, 4, hardware::store);
  });
  for (int i = 0; i < 100; ++i) nodes.machine.step();
  for (NodeNumber node = 0; node < 5; ++node) {
    EXPECT_EQ(nodes.memories.at(node, results), node == 0 ? 0u : 7u);
    EXPECT_EQ(nodes.machine.node(node).spent().handling, 0u);
  }
}

NodeNumber any_of(NodeNumber nodes, test::Random& random) {
  return static_cast<NodeNumber>(random.below(nodes));
}

/// A random one of the messages that need no processor, sent by its node with all events disabled. How many handlers in hardware run for it.
Program send_any(Processor& cpu, test::Random& random, NodeNumber nodes, std::uint64_t& expected) {
  const auto words = static_cast<Word>(1 + random.below(most_vector));
  const auto from = static_cast<Address>(4 * random.below(results - most_vector));
  const auto to = static_cast<Address>(4 * (results + random.below(results - 2 * most_vector)));
  const auto vector = static_cast<unsigned>(random.below(most_vector + 1));
  const NodeNumber peer = any_of(nodes, random);
  switch (random.below(4)) {
    case 0:
      expected += 1;
      co_await send(cpu, random.one_in(2) ? Priority::high : Priority::low, peer, hardware::store,
                    {to, 1, 2, 3}, 4, vector);
      break;
    case 1:
      expected += 2;
      co_await send(cpu, Priority::low, peer, hardware::forward,
                    {any_of(nodes, random), hardware::store, to, 1, 2}, 5, vector);
      break;
    default:
      expected += 2;
      co_await send(cpu, Priority::low, peer, hardware::fetch,
                    {cpu.ni().cfc2(Register::niid), hardware::store, from, words, to}, 5);
  }
}

// 3.5, A.10: requests low, what answers them high, and of high priority only what waits for nothing: all ask, store at and forward by
// all, through buffers of one message. No processor has a part in it but by its own sends.
TEST(T1HardwareMachine, NobodyWaitsForEverHoweverFullTheNetworkIs) {
  test::Random random(test::seed());
  for (const Mesh::Shape& shape : {Mesh::Shape{.rows = 1, .columns = 2, .buffers = 1},
                                   {.rows = 4, .columns = 4, .buffers = 1},
                                   {.rows = 1, .columns = 7, .buffers = 1, .patience = 0},
                                   {.rows = 5, .columns = 3, .wraps = false, .buffers = 2},
                                   {.rows = 2, .columns = 8, .patience = 255}}) {
    Nodes nodes(shape);
    Machine& machine = nodes.machine;
    std::uint64_t expected = 0, ended = 0;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.node(node).run([&](Processor& cpu) -> Program {
        co_await cpu.enter_critical();
        for (int i = 0; i < 200; ++i) co_await send_any(cpu, random, machine.nodes(), expected);
        ++ended;
      });
    }
    ASSERT_TRUE(
        machine.run_until([&] { return ended == machine.nodes() && nodes.handled() == expected; }, 2'000))
        << machine.who_waits();
    std::uint64_t waited = 0;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      const Processor::Spent& spent = machine.node(node).spent();
      EXPECT_EQ(spent.handling + spent.dispatching, 0u);
      EXPECT_EQ(machine.hardware(node).counts().refused, 0u);
      waited += machine.hardware(node).counts().waited;
    }
    EXPECT_EQ(machine.mesh().under_way(), 0u);
    EXPECT_GT(waited, 0u) << "some could not answer at once";
  }
}

// Every node fetches all that every other has, and gets it; who is asked runs no instruction for it.
TEST(T1HardwareMachine, AllFetchFromAll) {
  constexpr Word pieces = 4;
  Nodes nodes({.rows = 3, .columns = 3, .buffers = 1});
  Machine& machine = nodes.machine;
  const NodeNumber count = machine.nodes();
  for (NodeNumber node = 0; node < count; ++node) {
    machine.node(node).run([&, node](Processor& cpu) -> Program {
      co_await cpu.enter_critical();
      for (Word piece = 0; piece < pieces; ++piece) {
        for (NodeNumber other = 0; other < count; ++other)
          co_await send(
              cpu, Priority::low, other, hardware::fetch,
              {node, hardware::store, 4 * piece * 8, 8, 4 * (results + (other * pieces + piece) * 8)}, 5);
      }
    });
  }
  ASSERT_TRUE(machine.run_until([&] { return nodes.handled() == 2u * pieces * count * count; }, 2'000))
      << machine.who_waits();
  for (NodeNumber node = 0; node < count; ++node) {
    for (NodeNumber other = 0; other < count; ++other) {
      for (Word i = 0; i < pieces * 8; ++i)
        ASSERT_EQ(nodes.memories.at(node, results + other * pieces * 8 + i), other * results + i);
    }
    EXPECT_EQ(machine.node(node).spent().handling + machine.node(node).spent().dispatching, 0u);
  }
}

// A node that takes no reply holds up those who answer it, and through them who asks of them; but no store of high priority.
TEST(T1HardwareMachine, RequestsThatCannotBeAnsweredHoldUpTheirPriorityOnly) {
  Nodes nodes({.rows = 1, .columns = 3, .wraps = false, .buffers = 1});
  Machine& machine = nodes.machine;
  machine.node(0).run([](Processor& cpu) -> Program {
    co_await cpu.enter_critical();
    for (;;) co_await send(cpu, Priority::low, 2, hardware::fetch, {0, handler, 0, 32, 0}, 5);
  });
  constexpr unsigned until_all_is_full = 2'000;
  machine.node(1).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(until_all_is_full);
    co_await send(cpu, Priority::high, 2, hardware::store, {4 * results, 5}, 2);
  });
  for (unsigned i = 0; i < until_all_is_full; ++i) machine.step();
  EXPECT_GT(machine.mesh().still_for(), 1'000u);
  EXPECT_GT(machine.hardware(2).counts().waited, 1'000u);
  for (Cycle i = 0; i < 1 + costs::send + in_network(1, 1) + 2; ++i) machine.step();
  EXPECT_EQ(nodes.memories.at(2, results), 5u) << "as without load";
}

TEST(T1HardwareMachine, LooksTheSameInWhateverOrderItIsStepped) {
  test::Random random(test::seed());
  const auto trace = [&](bool shuffled) {
    Nodes nodes({.rows = 3, .columns = 4, .buffers = 2});
    Machine& machine = nodes.machine;
    std::uint64_t expected = 0;
    std::vector<test::Random> choices;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) choices.emplace_back(node);
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.node(node).run([&, node](Processor& cpu) -> Program {
        for (int i = 0; i < 20; ++i) co_await send_any(cpu, choices[node], machine.nodes(), expected);
      });
    }
    std::vector<NodeNumber> order(shuffled ? machine.nodes() : 0);
    std::iota(order.begin(), order.end(), NodeNumber{0});
    for (int i = 0; i < 1'500; ++i) {
      for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[random.below(left)]);
      machine.step(order);
    }
    EXPECT_EQ(nodes.handled(), expected);
    std::uint64_t all = machine.mesh().fingerprint();
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (const Word word : nodes.memories.block(node, 0, words_of_memory)) all = test::mix(all, word);
    }
    return all;
  };
  const auto in_order = trace(false);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(trace(true), in_order);
}

}  // namespace hardware_handlers_machine_test
