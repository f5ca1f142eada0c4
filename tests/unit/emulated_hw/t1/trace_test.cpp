// Traces of a T1 machine: every message from its SEND to the interface where it came, each flit once, and what processors did.
#include "emulated_hw/kit/trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/programs/sending.hpp"
#include "support/random.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace t1_trace_test {

using namespace am::t1;
using am::kit::Trace;

constexpr Address request = 0x4000;
constexpr Address reply = 0x4100;

/// All nodes send to all, by one message or by multicast; unicasts are answered.
void place_exchange(Machine& machine) {
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    machine.node(node).place(reply, [](Processor& cpu) -> Program { co_await cpu.cycles(2); });
    machine.node(node).place(request, [](Processor& cpu) -> Program {
      if ((cpu.ni().cfc2(Register::nistat) & nistat::mcst) != 0) co_return;
      co_await send_until_accepted(cpu, {.scalars = 1, .priority = Priority::high}, cpu.registers().data[0],
                                   reply);
    });
    machine.node(node).run([node, nodes = machine.nodes()](Processor& cpu) -> Program {
      for (NodeNumber i = 0; i < 2 * nodes; ++i) {
        cpu.registers().data[0] = node;
        co_await send_until_accepted(cpu,
                                     {.scalars = 1 + i % 5, .vector = i % 3 == 0, .multicast = i % 4 == 0},
                                     (node + i) % nodes, request);
      }
    });
  }
}

bool is_done(Machine& machine) {
  if (machine.mesh().under_way() != 0) return false;
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    if (!machine.node(node).has_nothing_to_do()) return false;
  }
  return true;
}

TEST(T1Trace, FollowsEveryMessageFromInterfaceToInterface) {
  for (const Mesh::Shape& shape : {Mesh::Shape{.rows = 3, .columns = 4},
                                   {.rows = 1, .columns = 2, .buffers = 1},
                                   {.rows = 4, .columns = 3, .wraps = false}}) {
    Machine machine(shape);
    Trace trace(machine.mesh().grid());
    trace.names = trace_names("all to all");
    machine.record(&trace);
    place_exchange(machine);
    ASSERT_TRUE(machine.run_until([&] { return is_done(machine); })) << machine.who_waits();
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
  machine.node(1).place(request, [](Processor& cpu) -> Program { co_await cpu.cycles(3); });
  machine.node(0).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(2);
    co_await cpu.send({.scalars = 1}, 1, request);
    co_await cpu.send({.scalars = 1}, 1, request);
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

TEST(T1Trace, ChangesNothing) {
  const auto fingerprint = [](bool recorded) {
    Machine machine({.rows = 3, .columns = 4});
    Trace trace(machine.mesh().grid());
    if (recorded) machine.record(&trace);
    place_exchange(machine);
    EXPECT_TRUE(machine.run_until([&] { return is_done(machine); })) << machine.who_waits();
    return machine.mesh().fingerprint();
  };
  EXPECT_EQ(fingerprint(true), fingerprint(false));
}

}  // namespace t1_trace_test
