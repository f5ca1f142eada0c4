// Programs and handlers in hardware on T1s and their mesh, under one clock: that neither the order of the steps nor a trace can be seen,
// what a trace says, and that a deadlock is told. What messages cost is in programs/experiments_test.cpp.
#include "emulated_hw/t1/machine.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/programs/sending.hpp"
#include "unit/emulated_hw/orders.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace t1_machine_test {

using namespace am::t1;
using am::kit::Trace;

constexpr Address ping = 0x4000;
constexpr Address pong = 0x4100;
constexpr Word words_of_memory = 256;
constexpr Word calm = 8'000;  ///< the cycle when an exchange of twelve nodes is over

/// All nodes send to all, by one message or by multicast, and fetch from all, to the same places in their memories; unicasts are
/// answered. Later each has a timelet.
struct Exchange {
  explicit Exchange(const Mesh::Shape& shape, Trace* trace = nullptr)
      : machine(shape), memories(machine.nodes(), words_of_memory), seen(machine.nodes()) {
    machine.add_hardware_handlers(memories);
    machine.record(trace);
    for (NodeNumber node = 0; node < machine.nodes(); ++node) place(node);
  }
  void place(NodeNumber node) {
    std::ranges::fill(memories.block(node, 0, words_of_memory), node);
    Processor& cpu = machine.node(node);
    cpu.ni().ctc2(Register::timeh, pong);
    cpu.ni().ctc2(Register::timec, calm + 100 + 40 * node);
    cpu.place(pong, [this, node](Processor& here) -> Program {
      seen[node].push_back(machine.now());
      seen[node].push_back(here.ni().cfc2(Register::count));
      co_await here.cycles(2);
    });
    cpu.place(ping, [](Processor& here) -> Program {
      if ((here.ni().cfc2(Register::nistat) & nistat::mcst) != 0) co_return;
      co_await send_until_accepted(here, {.scalars = 1, .priority = Priority::high}, here.registers().data[0],
                                   pong);
    });
    cpu.run([node, nodes = machine.nodes()](Processor& here) -> Program {
      for (NodeNumber i = 0; i < 2 * nodes; ++i) {
        const NodeNumber to = (node + i) % nodes;
        here.registers().data = {node};
        co_await send_until_accepted(
            here, {.scalars = 1 + i % 5, .vector = i % 3 == 0, .multicast = i % 4 == 0}, to, ping);
        here.registers().data = {node, hardware::store, 4 * i, 1 + i, 4 * (128 + i)};
        co_await send_until_accepted(here, {.scalars = 5}, to, hardware::fetch);
      }
    });
  }
  [[nodiscard]] bool is_done() {
    if (machine.mesh().under_way() != 0) return false;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      if (!machine.node(node).has_nothing_to_do() || !machine.hardware(node).has_nothing_to_do())
        return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t fingerprint() {
    std::uint64_t all = machine.mesh().fingerprint();
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (const std::uint64_t one : seen[node]) all = test::mix(all, one);
      for (const Word word : memories.block(node, 0, words_of_memory)) all = test::mix(all, word);
      const Processor::Spent& spent = machine.node(node).spent();
      for (const std::uint64_t one :
           {spent.all, spent.computing, spent.dispatching, spent.handling, spent.idle})
        all = test::mix(all, one);
      all = test::mix(all, machine.node(node).ni().cfc2(Register::count));
    }
    return all;
  }

  Machine machine;
  Memories memories;
  std::vector<std::vector<std::uint64_t>> seen;  // by node: when its handlers began
};

// Nodes that have nothing to do are left out where no order is given: nobody can tell, by what they counted or by when an event comes
// to them.
TEST(T1Machine, LooksTheSameInWhateverOrderItIsSteppedAndWithATrace) {
  const Mesh::Shape shape{.rows = 3, .columns = 4, .buffers = 2};
  const auto run = [&](auto next, Trace* trace) {
    Exchange exchange(shape, trace);
    Machine& machine = exchange.machine;
    NetworkInterface& kept = machine.node(4).ni();
    for (Word cycle = 0; cycle < calm + 1'000; ++cycle) {
      machine.step(next());
      if (cycle == calm) {
        EXPECT_TRUE(exchange.is_done());
      }
      if (cycle == calm + 400) machine.node(3).ni().ctc2(Register::timec, calm + 700);
      if (cycle == calm + 600) kept.deliver({.handler = pong});
    }
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      EXPECT_EQ(exchange.seen[node].size() / 2, 18u + 1 + (node == 3 || node == 4 ? 1 : 0));
      EXPECT_EQ(machine.hardware(node).counts().stored, 24u);
    }
    return exchange.fingerprint();
  };
  test::expect_the_same_in_any_order(12, 30, [&](auto next) { return run(next, nullptr); });
  Trace trace(grid_of(shape));
  const auto in_order = [] { return std::span<const NodeNumber>(); };
  EXPECT_EQ(run(in_order, &trace), run(in_order, nullptr));
}

// The report's own warning (3.5): a handler that sends requests of its own priority may wait for ever.
TEST(T1Machine, SaysWhoWaitsWhenHandlersSendRequestsToEachOther) {
  Machine machine({.rows = 1, .columns = 2, .wraps = false, .buffers = 1});
  for (NodeNumber node = 0; node < 2; ++node) {
    machine.node(node).place(ping, [node](Processor& cpu) -> Program {
      for (int i = 0; i < 2; ++i) co_await send_until_accepted(cpu, {}, 1 - node, ping);
    });
    machine.node(node).run(
        [node](Processor& cpu) -> Program { co_await send_until_accepted(cpu, {}, 1 - node, ping); });
  }
  EXPECT_THAT(
      [&] { machine.run_or_throw([] { return false; }, 1'000); },
      testing::ThrowsMessage<std::runtime_error>(
          "t1: nothing has moved for 1001 cycles:\n"
          "a circle: node 0 interface low -> node 0 port 0 low -> node 1 port 2 low -> node 1 -> "
          "node 1 interface low -> node 1 port 0 low -> node 0 port 1 low -> node 0 -> node 0 interface low\n"
          "node 0: a low message to node 1 in its interface waits behind that to node 1\n"
          "node 0: a low message from node 0 to node 1 at port 0 waits for port 1, no room at node 1 "
          "behind that from node 0 to node 1\n"
          "node 0: a low message from node 1 to node 0 at port 1 waits for port 0, where node 0 takes "
          "none of that priority\n"
          "node 1: a low message to node 0 in its interface waits behind that to node 0\n"
          "node 1: a low message from node 1 to node 0 at port 0 waits for port 2, no room at node 0 "
          "behind that from node 1 to node 0\n"
          "node 1: a low message from node 0 to node 1 at port 2 waits for port 0, where node 1 takes "
          "none of that priority\n"
          "node 0: runs a handler; a low message that it has sent does not leave its interface; a low "
          "message waits in its interface: such events are masked or disabled\n"
          "node 1: runs a handler; a low message that it has sent does not leave its interface; a low "
          "message waits in its interface: such events are masked or disabled\n"));
}

// No message is under way, and none will be.
TEST(T1Machine, SaysWhoWaitsForMessagesThatNobodySends) {
  EXPECT_THAT([] { Machine(Mesh::Shape{}).run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(
                  "t1: no message has been under way for 101 cycles:\nall programs have ended\n"));
  Machine machine({.rows = 1, .columns = 3});
  machine.node(0).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(30'000);  // it computes, which is no reason to give it up
    for (;;) co_await cpu.cycles(2);
  });
  machine.node(1).ni().ctc2(Register::enable, 0);
  machine.node(1).ni().deliver({.handler = ping});
  EXPECT_FALSE(machine.run_until([] { return false; }, 100));
  EXPECT_GT(machine.now(), 30'000u);
  EXPECT_EQ(machine.who_waits(),
            "node 0: its program goes on, and no message has come for it\n"
            "node 1: a low message waits in its interface: such events are masked or disabled\n");
  machine.node(2).place(pong, [](Processor& cpu) -> Program { co_await cpu.cycles(1); });
  machine.node(2).ni().ctc2(Register::timeh, pong);
  machine.node(2).ni().ctc2(Register::timec, 80'000);
  EXPECT_TRUE(machine.run_until([&] { return machine.node(2).spent().handling != 0; }, 100));
}

// Whether nodes sleep or look for something in a loop.
TEST(T1Machine, WaitsForATimeletThoughMessagesStandStill) {
  for (const bool looks : {false, true}) {
    Machine machine({.rows = 1, .columns = 2, .wraps = false});
    constexpr Word all_but_low = nistat::lpee | nistat::ame | nistat::hpmm | nistat::tm;
    int came = 0;
    machine.node(1).ni().ctc2(Register::nistat, all_but_low);
    machine.node(1).place(ping, [&](Processor& cpu) -> Program {
      ++came;
      co_await cpu.cycles(1);
    });
    machine.node(1).place(pong, [&](Processor& cpu) -> Program {
      co_await cpu.ctc2(Register::nistat, all_but_low | nistat::lpmm);
    });
    machine.node(1).run([&](Processor& cpu) -> Program {
      co_await cpu.ctc2(Register::timeh, pong);
      co_await cpu.ctc2(Register::timec, 15'000);
      while (looks) co_await cpu.cycles(2);
    });
    machine.node(0).run([](Processor& cpu) -> Program {
      for (int i = 0; i < 3; ++i) co_await send_until_accepted(cpu, {}, 1, ping);
    });
    EXPECT_TRUE(machine.run_until([&] { return came == 3; })) << looks << machine.who_waits();
  }
}

// -- handlers in hardware: processors have no part in them, and nothing waits in a circle (T1 report, 3.3, 3.5, 3.9, A.10) -----------

constexpr Word results = 512;  // words from here on are not what others fetch

struct Nodes {
  explicit Nodes(const Mesh::Shape& shape) : machine(shape), memories(machine.nodes(), 2 * results) {
    machine.add_hardware_handlers(memories);
  }
  [[nodiscard]] std::uint64_t handled() const {
    std::uint64_t all = 0;
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      const HardwareHandlers::Counts& counts = machine.hardware(node).counts();
      all += counts.fetched + counts.stored + counts.forwarded;
    }
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

// -- traces: every message from its SEND to the interface where it came, each flit once, and what processors did ------------------

TEST(T1Trace, FollowsEveryMessageFromInterfaceToInterface) {
  for (const Mesh::Shape& shape : {Mesh::Shape{.rows = 3, .columns = 4},
                                   {.rows = 1, .columns = 2, .buffers = 1},
                                   {.rows = 4, .columns = 3, .wraps = false}}) {
    Trace trace(grid_of(shape));
    trace.names = trace_names("all to all");
    Exchange exchange(shape, &trace);
    Machine& machine = exchange.machine;
    ASSERT_TRUE(machine.run_until([&] { return exchange.is_done(); })) << machine.who_waits();
    trace.ends(machine.now());
    test::expect_consistent(trace);
    const auto flits = test::flits_by_link(trace);
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (unsigned port = 0; port < ports; ++port) {
        const auto some = flits.find({node, port});
        EXPECT_EQ(machine.mesh().counts(node, port).flits, some == flits.end() ? 0 : some->second);
      }
    }
    std::vector<unsigned> copies(trace.messages().size());
    for (const Trace::Arrival& arrival : trace.arrivals()) ++copies[arrival.message];
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const Trace::Message& message = trace.messages()[i];
      const unsigned hops = am::kit::distance(trace.topology(), message.from, message.to);
      const bool round = message.kind == 2 && message.from == message.to && shape.wraps;
      EXPECT_EQ(copies[i], message.kind != 2 ? 1u : round ? shape.columns : std::max(hops, 1u)) << i;
    }
  }
}

TEST(T1Trace, SaysWhatProcessorsDo) {
  Machine machine({.rows = 1, .columns = 2});
  Trace trace(machine.mesh().grid());
  trace.names = trace_names("one message");
  machine.record(&trace);
  machine.node(1).place(ping, [](Processor& cpu) -> Program { co_await cpu.cycles(3); });
  machine.node(0).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(2);
    co_await cpu.send({.scalars = 1}, 1, ping);
    co_await cpu.send({.scalars = 1}, 1, ping);
  });
  while (machine.node(1).spent().handling < 6) machine.step();
  for (int i = 0; i < 20; ++i) machine.step();
  trace.ends(machine.now());
  std::map<NodeNumber, std::vector<std::pair<std::string, am::kit::Cycle>>> did;
  for (const Trace::Activity& one : trace.activities())
    did[one.node].emplace_back(trace.names.activities[one.what], one.end - one.begin);
  using Did = std::vector<std::pair<std::string, am::kit::Cycle>>;
  EXPECT_EQ(did[0], (Did{{"computes", 2}, {"SEND", 5}, {"SEND", 5}}));
  EXPECT_EQ(
      did[1],
      (Did{{"dispatch", 4}, {"handler", 3}, {"HRET", 1}, {"dispatch", 4}, {"handler", 3}, {"HRET", 1}}));
}

}  // namespace t1_machine_test
