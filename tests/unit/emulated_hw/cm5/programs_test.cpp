// CMAM on the CM-5's nodes, and the machine that runs it: criteria C-1 to C-4, CM-4, CM-16.
#include <gmock/gmock.h>

#include "emulated_hw/cm5/programs/cmam.hpp"
#include "emulated_hw/cm5/programs/ping.hpp"
#include "unit/emulated_hw/orders.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace am::cm5::programs_test {

/// CM-4: "approximately 100 cycles" for send, receive and dispatch of five words (T1 report, 2.2.1). The band, 70 to 130, was said before the
/// first run.
TEST(Cm5Cmam, TakesAboutAHundredCyclesForFiveWords) {
  const MessageCosts costs = message_costs();
  EXPECT_EQ(costs.send, costs::enter_send + 4 + 8 + 7 + 2 + costs::test_and_branch + costs::back);
  const unsigned look = 7 + costs::test_and_branch;
  EXPECT_EQ(costs.empty_poll, costs::enter_poll + 2 * look + costs::next_network + costs::leave_poll);
  EXPECT_EQ(costs.poll - costs.empty_poll, costs::dispatch + 8 + 8 + 7 + costs::back + costs::loop + look);
  EXPECT_EQ(costs.refused, 4u + 8 + 7 + 2 + costs::test_and_branch + 2 * look);
  EXPECT_GE(costs.send + costs.poll, 70u);
  EXPECT_LE(costs.send + costs.poll, 130u);
}

/// Until both of two nodes have sent a message, and handled the other's: what Lee (1999, Table 2.1) calls a swap.
Cycle swap(NodeNumber nodes, NodeNumber one, NodeNumber other) {
  Machine machine(nodes, 0);
  Cmam cmam;
  std::array<Cycle, 2> ended{};
  std::array<bool, 2> has{};
  const Word handler = cmam.place([&](Processor& cpu, Cmam::Incoming&) -> Program {
    has[cpu.node() == one ? 0 : 1] = true;
    co_return;
  });
  const auto run = [&](unsigned number, NodeNumber here, NodeNumber there) {
    machine.node(here).run([&, number, there](Processor& cpu) -> Program {
      co_await cmam.request(cpu, there, handler, {1, 2, 3, 4});
      while (!has[number]) co_await cmam.poll(cpu);
      ended[number] = machine.now() + 1;
    });
  };
  run(0, one, other);
  run(1, other, one);
  machine.run_or_throw([&] { return ended[0] != 0 && ended[1] != 0; });
  return std::max(ended[0], ended[1]);
}

/// C-1: what lies between a send and its handler, over each level: its code and the network, and what a poll may be late by.
TEST(Cm5Ping, TakesTheSumOfItsParts) {
  const MessageCosts costs = message_costs();
  const auto in_network_cycles = [](unsigned cycles) { return (cycles * network_mhz + 32) / processor_mhz; };
  NodeNumber to = 1;
  for (unsigned levels = 1; levels <= 5; ++levels, to *= 4) {
    const PingTimes times = ping(1024, 0, to);
    const unsigned sent =
        costs.send - costs::test_and_branch - costs::back - 7;  // the last word is in the interface
    const unsigned found = costs::dispatch + 7 + costs::test_and_branch + 8 + 8 + 7;
    const Cycle least = in_network_cycles(sent + found) + latency(most_words, levels);
    const Cycle most = least + in_network_cycles(costs.empty_poll + costs::loop) + 4;
    EXPECT_GE(times.handled, least) << levels;
    EXPECT_LE(times.handled, most) << levels;
    EXPECT_GE(times.answered - times.handled, least) << levels;
    EXPECT_LE(times.answered - times.handled, most) << levels;
  }
  // Lee (1999, Table 2.1) prints 3.4 us, of a library without handlers.
  EXPECT_GT(swap(32, 0, 1) * cycle_ns, 3'400u);
  EXPECT_LT(swap(32, 0, 31) * cycle_ns, 2 * 3'400u);
}

/// C-4: both messages from interface to interface, and when the processors were at work.
TEST(Cm5Ping, HasATrace) {
  kit::Trace trace{Tree(64).shape()};
  trace.names = trace_names("ping");
  const PingTimes times = ping(64, 3, 60, &trace);
  test::expect_consistent(trace);
  ASSERT_EQ(trace.messages().size(), 2u);
  EXPECT_EQ(trace.messages()[0].kind, 0u);
  EXPECT_EQ(trace.messages()[1].kind, 1u);
  for (const auto& way : trace.ways()) EXPECT_EQ(way.passages.size(), 2u + 4);
  std::vector<kit::NodeNumber> active;
  for (const kit::Trace::Activity& one : trace.activities()) active.push_back(one.node);
  std::ranges::sort(active);
  EXPECT_EQ(active, (std::vector<kit::NodeNumber>{3, 60}));
  EXPECT_GT(times.answered, trace.arrivals().back().at);
}

/// All nodes send `rounds` requests to all others, without a pause, and are answered.
struct AllToAll {
  AllToAll(NodeNumber nodes, unsigned all_rounds) : machine(nodes, 0), rounds(all_rounds), got(nodes) {
    const Word pong = cmam.place([this](Processor& cpu, Cmam::Incoming&) -> Program {
      ++got[cpu.node()];
      co_return;
    });
    const Word ping = cmam.place([this, pong](Processor& cpu, Cmam::Incoming& in) -> Program {
      co_await cmam.reply(cpu, in.arguments[0], pong, in.arguments);
    });
    for (NodeNumber node = 0; node < nodes; ++node) {
      machine.node(node).run([this, ping](Processor& cpu) -> Program {
        for (unsigned i = 0; i < rounds; ++i) {
          for (NodeNumber other = 0; other < machine.nodes(); ++other)
            co_await cmam.request(cpu, other, ping, {cpu.node(), i, 3, 4});
        }
        while (!is_done()) co_await cmam.poll(cpu);
      });
    }
  }
  [[nodiscard]] bool is_done() const {
    return std::accumulate(got.begin(), got.end(), 0u) == rounds * machine.nodes() * machine.nodes();
  }

  Machine machine;
  Cmam cmam;
  unsigned rounds;
  std::vector<unsigned> got;  // answers, by node
};

/// CM-16: nodes that receive while they cannot send never stop, and lose nothing, though the interface drops what finds no space.
TEST(Cm5Cmam, NodesThatReceiveWhileTheySendNeverStop) {
  AllToAll all(16, 10);
  all.machine.run_or_throw([&] { return all.is_done(); });
  EXPECT_EQ(all.got, std::vector(16, 160u));
  const auto refused_of_many = [] {
    Machine machine(16, 0);
    Cmam cmam;
    unsigned came = 0;
    const Word handler = cmam.place([&](Processor& cpu, Cmam::Incoming&) -> Program {
      ++came;
      co_await cpu.cycles(200);
    });
    for (NodeNumber node = 1; node < 16; ++node) {
      machine.node(node).run([&](Processor& cpu) -> Program {
        for (Word i = 0; i < 20; ++i) co_await cmam.request(cpu, 0, handler, {i});
      });
    }
    machine.node(0).run([&](Processor& cpu) -> Program {
      while (came != 300) co_await cmam.poll(cpu);
    });
    machine.run_or_throw([&] { return machine.node(0).has_ended(); });
    return cmam.refused();
  };
  EXPECT_GT(refused_of_many(), 1'000u);
}

/// C-2: the order within a cycle cannot be seen; nor that nodes sleep, which they do where no order is given.
TEST(Cm5Machine, LooksTheSameInWhateverOrderItIsStepped) {
  test::expect_the_same_in_any_order(4, 100, [](auto next) {
    AllToAll all(4, 2);
    while (all.machine.now() < 3'000) all.machine.step(next());
    EXPECT_TRUE(all.is_done());
    return all.machine.fingerprint();
  });
}

/// C-3: two nodes that only send stop, and the circle is named; a program that waits for ever is, too.
TEST(Cm5Machine, SaysWhoWaitsForWhatDoesNotCome) {
  Machine sending(2, 0);
  for (NodeNumber node = 0; node < 2; ++node) {
    sending.node(node).run([node](Processor& cpu) -> Program {
      for (;;) co_await cpu.send_first(Side::left, {.length = 1}, 1 - node, 7);
    });
  }
  EXPECT_THAT([&] { sending.run_or_throw([] { return false; }, 1'000); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::HasSubstr("a circle: left router 0 port 0 -> node 1 -> left router 0 port"),
                  testing::HasSubstr("node 1: its program goes on\n"))));
  Machine waiting(2, 0);
  Cmam cmam;
  waiting.node(1).run([&](Processor& cpu) -> Program {
    for (;;) co_await cmam.poll(cpu);
  });
  EXPECT_THAT([&] { waiting.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::StartsWith("cm5: "), testing::HasSubstr("node 1: its program goes on\n"))));
  Machine ended(2, 0);
  EXPECT_THAT([&] { ended.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("all programs have ended\n")));
}

}  // namespace am::cm5::programs_test
