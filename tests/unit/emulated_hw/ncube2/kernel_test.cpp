// The kernel of the nCUBE/2: criteria NC-18, NC-22 to NC-27 and C-1, C-3 (von Eicken 1993, 3.1.4, 3.3).
#include "emulated_hw/ncube2/kernel.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/ncube2/machine.hpp"

namespace am::ncube2::kernel_test {

using Setting = Kernel::Setting;

constexpr unsigned in_kernel = costs::trap + costs::saving + costs::restoring + costs::reti;

/// A machine with a kernel on each node.
struct Nodes {
  explicit Nodes(unsigned dimensions, Setting setting) : machine(dimensions) {
    setting.nodes = machine.nodes();
    for (NodeNumber node = 0; node < machine.nodes(); ++node)
      kernels.emplace_back(machine.node(node), setting);
  }
  void run(Cycle cycles) {
    for (Cycle cycle = 0; cycle < cycles; ++cycle) machine.step();
  }
  Machine machine;
  std::deque<Kernel> kernels;
};

/// Runs a program on a node, after so many cycles. How long it took is to be read when it has ended.
template <class F>
void measure(Nodes& nodes, NodeNumber node, unsigned after, F program, Cycle& took) {
  nodes.machine.node(node).run([=, &took](Processor& cpu) -> Program {
    co_await cpu.cycles(after);
    const Cycle begun = cpu.spent().all;
    co_await program();
    took = cpu.spent().all - begun;
  });
}

/// C-1, NC-23, NC-24: from the program's call to the receiver's upcall, over each distance: the sum of what each part takes.
TEST(Ncube2Kernel, TakesTheSumOfItsPartsFromProgramToProgram) {
  for (const Word words : {3u, 16u}) {
    for (unsigned hops = 1; hops <= 6; ++hops) {
      Nodes nodes(hops, {.buffers = 2 * hops});
      const NodeNumber last = nodes.machine.nodes() - 1;
      Cycle came = 0;
      nodes.kernels[last].when_received([&](Processor&, Kernel::Received& received) -> Program {
        EXPECT_TRUE(received.from == 0 && received.words == words - header_words);
        came = nodes.machine.now() + 1;
        co_return;
      });
      Sent sent{};
      Cycle took = 0;
      const auto send = [&] {
        return nodes.kernels[0].send({.to = last, .at = 10, .words = words}, WhenBusy::fail, sent);
      };
      measure(nodes, 0, 0, send, took);
      nodes.machine.run_or_throw([&] { return came != 0; });
      const unsigned service =
          costs::check + costs::find_engine + 2 * (costs::store + dram_cycles) + 3 * costs::privileged;
      EXPECT_EQ(took, in_kernel + service + nodes.machine.node(0).stolen());
      const Cycle engines = dram_cycles + page_cycles + latency(hops, words) + 1;
      const unsigned arrival = costs::privileged + costs::load + dram_cycles + costs::find_buffer +
                               2 * costs::privileged + costs::jump;
      EXPECT_EQ(came,
                costs::trap + costs::saving + service + engines + costs::trap + costs::saving + arrival);
    }
  }
}

/// NC-25, NC-18: destination, segment and length, before any engine is touched: so no message is longer than a buffer.
TEST(Ncube2Kernel, RefusesWhatTheHardwareDoesNotCheck) {
  Machine machine(2);
  Kernel kernel(machine.node(1), {.first = 0, .nodes = 2, .buffers = 4, .most_words = 16});
  const Word end = kernel.segment();
  EXPECT_EQ(end, machine.node(1).memory().size() - 4 * 16);
  const std::vector<Kernel::Message> refused = {
      {.to = 2, .at = 0, .words = 4},       {.to = 3, .at = 0, .words = 4},
      {.to = 1, .at = 0, .words = 4},       {.to = 0, .at = 0, .words = 17},
      {.to = 0, .at = 0, .words = 1},       {.to = 0, .at = end - 3, .words = 4},
      {.to = 0, .at = end + 8, .words = 4}, {.to = 0, .at = ~Word{0}, .words = 4}};
  machine.node(0).engines().receive(0, 0);
  const std::vector<Word> before = machine.node(1).memory();
  unsigned ended = 0;
  machine.node(1).run([&](Processor&) -> Program {
    for (const Kernel::Message& message : refused) {
      Sent sent{};
      co_await kernel.send(message, WhenBusy::queue, sent);
      EXPECT_EQ(sent, Sent::refused) << ended;
      ++ended;
    }
    Sent sent{};
    co_await kernel.send({.to = 0, .at = end - 4, .words = 4}, WhenBusy::queue, sent);
    EXPECT_EQ(sent, Sent::going);
    ++ended;
  });
  for (int cycle = 0; cycle < 10'000; ++cycle) machine.step();
  EXPECT_EQ(ended, refused.size() + 1);
  EXPECT_EQ(machine.node(1).engines().status().output_ready, 1);
  EXPECT_EQ(machine.node(1).memory()[0], before[0]);
  EXPECT_THROW(Kernel(machine.node(0), {.nodes = 4, .buffers = 1000}), std::invalid_argument);
}

/// NC-23: while the engine is at work a send fails, or is queued and goes by the output interrupt, or its program waits for that. All come, in
/// the order in which they were sent.
TEST(Ncube2Kernel, QueuesOrSuspendsWhileTheEngineIsBusy) {
  Nodes nodes(1, {.buffers = 8});
  std::vector<Word> came;
  nodes.kernels[1].when_received([&](Processor& cpu, Kernel::Received& received) -> Program {
    came.push_back(co_await cpu.load(received.at));
  });
  std::vector<Sent> all;
  std::vector<Cycle> at;
  nodes.machine.node(0).run([&](Processor& cpu) -> Program {
    Word next = 0;
    for (const WhenBusy when_busy : {WhenBusy::queue, WhenBusy::queue, WhenBusy::fail, WhenBusy::queue,
                                     WhenBusy::suspend, WhenBusy::queue}) {
      Sent sent{};
      co_await cpu.store(16 * next + header_words, next);
      co_await nodes.kernels[0].send({.to = 1, .at = 16 * next, .words = 16}, when_busy, sent);
      all.push_back(sent);
      at.push_back(cpu.spent().all);
      ++next;
    }
  });
  nodes.run(20'000);
  EXPECT_EQ(all,
            (std::vector{Sent::going, Sent::queued, Sent::busy, Sent::queued, Sent::going, Sent::queued}));
  EXPECT_EQ(came, (std::vector<Word>{0, 1, 3, 4, 5}));
  EXPECT_GT(at[4], 3 * latency(1, 16)) << "three before it have gone";
  EXPECT_LT(at[1], 2 * latency(1, 16));
  EXPECT_TRUE(nodes.machine.node(0).has_ended() && nodes.machine.network().under_way() == 0);
}

/// Node 0 sends a message of `words` to node 1, whose program begins when it has come.
struct OneMessage : Nodes {
  OneMessage(Word words, const Setting& setting) : Nodes(1, setting) {
    for (Word i = 0; i < words; ++i) machine.node(0).memory()[i] = 100 + i;
    measure(
        *this, 0, 0,
        [this, words] { return kernels[0].send({.to = 1, .at = 0, .words = words}, WhenBusy::fail, sent); },
        sending);
  }
  template <class F>
  Cycle measure_receiver(F program) {
    Cycle took = 0;
    measure(*this, 1, 5'000, program, took);
    machine.run_or_throw([&] { return took != 0; });
    return took;
  }
  Sent sent{};
  Cycle sending = 0;
};

/// NC-24: a copy takes 21 cycles a word, of an instruction with two operands (r)+ and two accesses to DRAM; a map 207 whatever is mapped, and
/// 189 more when it is no longer needed. So a map is cheaper from 10 words on.
TEST(Ncube2Kernel, CopiesOrMapsWhatHasCome) {
  const auto receive = [](Delivery how, Word words) {
    OneMessage one(words, {.buffers = 2, .most_words = 64});
    Kernel::Received received;
    const Cycle took = one.measure_receiver([&]() -> Program {
      co_await one.kernels[1].receive(how, 8, received);
      if (how == Delivery::map) co_await one.kernels[1].release(received);
    });
    EXPECT_EQ(received.words, words - header_words);
    EXPECT_EQ(received.at < one.kernels[1].segment(), how == Delivery::copy);
    for (Word i = 0; i < received.words; ++i)
      EXPECT_EQ(one.machine.node(1).memory()[received.at + i], 100 + header_words + i);
    return took;
  };
  EXPECT_EQ(receive(Delivery::copy, 64) - receive(Delivery::copy, 10), 54u * 21);
  EXPECT_EQ(receive(Delivery::map, 64), 207u + 189);
  EXPECT_EQ(receive(Delivery::map, 12), 207u + 189);
  EXPECT_LT(receive(Delivery::copy, header_words + 9), 207u + 189);
  EXPECT_GT(receive(Delivery::copy, header_words + 10), 207u + 189);
}

/// NC-26: "polling is not a real option because each poll requires an expensive kernel trap": a poll that finds nothing takes 195 cycles, an
/// interrupt with its message 238, and a poll that finds one saves nothing.
TEST(Ncube2Kernel, PollsAtTheCostOfATrapEach) {
  OneMessage polled(8, {.buffers = 4, .interrupts = false}), interrupted(8, {.buffers = 4});
  std::vector<Cycle> took;
  polled.measure_receiver([&]() -> Program {
    for (int i = 0; i < 2; ++i) {
      const Cycle begun = polled.machine.node(1).spent().all;
      co_await polled.kernels[1].poll();
      took.push_back(polled.machine.node(1).spent().all - begun);
    }
  });
  interrupted.measure_receiver([&] { return interrupted.kernels[1].poll(); });
  EXPECT_EQ(polled.machine.node(1).spent().handling, 0u);
  const Processor::Spent& spent = interrupted.machine.node(1).spent();
  EXPECT_EQ(spent.dispatching + spent.handling, 238u);
  EXPECT_EQ(took, (std::vector<Cycle>{
                      238 + 2 * (costs::privileged + costs::compare_and_branch) + costs::first_bit, 195}));
}

/// Two nodes with a buffer each, whose programs send four messages and then receive four.
struct Pair {
  Pair(unsigned buffers, WhenBusy when_busy) : nodes(1, {.buffers = buffers}) {
    for (NodeNumber node = 0; node < 2; ++node) {
      nodes.machine.node(node).run([this, node, when_busy](Processor&) -> Program {
        unsigned received = 0;
        for (unsigned i = 0; i < 4; ++i) {
          Sent sent = Sent::busy;
          while (sent == Sent::busy) {
            co_await nodes.kernels[node].send({.to = 1 - node, .at = 16 * i, .words = 16}, when_busy, sent);
            if (sent == Sent::busy) co_await receive(node, received);
          }
        }
        while (received < 4) co_await receive(node, received);
        ++ended;
      });
    }
  }
  Program receive(NodeNumber node, unsigned& received) {
    Kernel::Received message;
    co_await nodes.kernels[node].receive(Delivery::copy, 1000, message);
    if (message.words != 0) ++received;
  }
  Nodes nodes;
  unsigned ended = 0;
};

/// NC-27 [V], NC-22, C-3: both wait to send, and no program receives: nothing can be taken back, or saved, but by receiving.
TEST(Ncube2Kernel, NamesTheCircleOfSendersThatDoNotReceive) {
  Pair pair(1, WhenBusy::suspend);
  EXPECT_THAT(
      [&] { pair.nodes.machine.run_or_throw([&] { return pair.ended == 2; }, 5'000); },
      testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
          testing::HasSubstr(
              "ncube2: nothing has moved for 5001 cycles:\n"
              "a circle: router 1 port 0 -> node 1 -> router 1 port 16 -> router 0 port 0 -> node 0 -> "
              "router 0 port 16 -> router 1 port 0\n"),
          testing::HasSubstr("node 0: its program waits for an interrupt; port 0 sends a message that "
                             "does not get on\n"))));
}

/// NC-27: "either receives must be handled autonomously by the kernel", with buffers for all that is under way, "or control must be handed back
/// temporarily to user level".
TEST(Ncube2Kernel, SendsWhenMessagesHaveBeenReceived) {
  for (const auto& [buffers, when_busy] : {std::pair{4u, WhenBusy::suspend}, {1u, WhenBusy::fail}}) {
    Pair pair(buffers, when_busy);
    pair.nodes.machine.run_or_throw([&] { return pair.ended == 2; }, 5'000);
    EXPECT_EQ(pair.nodes.machine.network().under_way(), 0u);
  }
}

}  // namespace am::ncube2::kernel_test
