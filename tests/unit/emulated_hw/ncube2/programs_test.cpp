// Programs on the nCUBE/2: CMAM, ping with its trace, and the machine that runs them: criteria C-1 to C-4.
#include <gmock/gmock.h>

#include "emulated_hw/ncube2/programs/cmam.hpp"
#include "emulated_hw/ncube2/programs/ping.hpp"
#include "unit/emulated_hw/orders.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace am::ncube2::programs_test {

/// C-1: the sum of named parts, over each distance. Over one hop the handler runs 731 cycles after the call, 257 of which are the
/// network's, and the answer's 588 later.
TEST(Ncube2Ping, TakesTheSumOfItsParts) {
  constexpr unsigned word = costs::store + dram_cycles;
  constexpr unsigned composed = 5 * word;
  constexpr unsigned submitted = costs::find_engine + 2 * word + 3 * costs::privileged;
  constexpr unsigned dispatched = costs::trap + costs::saving + costs::privileged + costs::load +
                                  dram_cycles + costs::find_buffer + 2 * costs::privileged + costs::jump +
                                  costs::dispatch + 5 * dram_cycles;
  constexpr unsigned trapped = costs::trap + costs::saving + costs::check;
  const PingTimes next_door = ping(1, 0, 1);
  EXPECT_EQ(next_door.handled, 731u);
  EXPECT_EQ(next_door.answered, 731u + 588);
  for (unsigned hops = 1; hops <= 8; ++hops) {
    const PingTimes times = ping(hops, 0, (NodeNumber{1} << hops) - 1);
    const Cycle way = dram_cycles + page_cycles + latency(hops, Cmam::message_words) + 1;
    EXPECT_EQ(times.sent,
              costs::find_send_buffer + composed + trapped + submitted + costs::restoring + costs::reti);
    EXPECT_EQ(times.handled, costs::find_send_buffer + composed + trapped + submitted + way + dispatched);
    const unsigned freed = costs::privileged;  // the output interrupt, for the buffer
    EXPECT_EQ(times.answered - times.handled, composed + submitted + freed + way + dispatched);
  }
}

/// C-4: each message from its engine to the handler's node, and what the processors did.
TEST(Ncube2Ping, HasATrace) {
  kit::Trace trace{kit::Hypercube(3)};
  trace.names = trace_names("ping");
  const PingTimes times = ping(3, 1, 6, &trace);
  test::expect_consistent(trace);
  ASSERT_EQ(trace.messages().size(), 2u);
  const auto flits = test::flits_by_link(trace);
  for (const auto& [router, dimension] :
       {std::pair{1u, 0u}, {0u, 1u}, {2u, 2u}, {6u, 0u}, {7u, 1u}, {5u, 2u}})
    EXPECT_EQ(flits.at({router, kit::Hypercube::across(dimension)}), 36u * Cmam::message_words + 5);
  std::vector<std::string> did;
  for (const kit::Trace::Activity& one : trace.activities()) {
    if (one.node == 6) did.push_back(trace.names.activities[one.what]);
  }
  EXPECT_EQ(did, (std::vector<std::string>{"interrupt", "handler", "reti", "interrupt", "handler", "reti"}))
      << "the message, and the end of the answer, whose buffer is free";
  EXPECT_GT(times.answered, trace.arrivals().back().at);
}

/// Handlers get the words and the sender; there is no message to oneself, or to nobody.
TEST(Ncube2Cmam, BringsFourWordsToAHandler) {
  Machine machine(2);
  Cmam cmam(machine, 4);
  std::vector<Word> got;
  const Word handler = cmam.place([&](Processor&, Cmam::Incoming& in) -> Program {
    got.assign(in.arguments.begin(), in.arguments.end());
    got.push_back(in.from);
    co_return;
  });
  machine.node(3).run([&](Processor& cpu) -> Program {
    co_await cmam.request(cpu, 0, handler, {10, 20, 30, 40});
    for (const NodeNumber nobody : {3u, 4u}) {
      bool thrown = false;
      try {
        co_await cmam.request(cpu, nobody, handler, {});
      } catch (const std::out_of_range&) {
        thrown = true;
      }
      EXPECT_TRUE(thrown);
    }
  });
  machine.run_or_throw([&] { return !got.empty() && machine.node(3).has_ended(); });
  EXPECT_EQ(got, (std::vector<Word>{10, 20, 30, 40, 3}));
}

/// All nodes send to all others, and are answered.
struct AllToAll {
  AllToAll() : machine(2), cmam(machine, 4 * machine.nodes()) {
    const Word pong = cmam.place([this](Processor&, Cmam::Incoming& in) -> Program {
      answers += in.arguments[3] == in.from;
      co_return;
    });
    const Word ping = cmam.place([this, pong](Processor& cpu, Cmam::Incoming& in) -> Program {
      co_await cmam.reply(cpu, in, pong, {0, 0, 0, cpu.node()});
    });
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.node(node).run([this, ping](Processor& cpu) -> Program {
        for (NodeNumber i = 1; i < machine.nodes(); ++i)
          co_await cmam.request(cpu, (cpu.node() + i) % machine.nodes(), ping, {1, 2, 3, 4});
      });
    }
  }
  [[nodiscard]] bool is_done() const { return answers == machine.nodes() * (machine.nodes() - 1); }

  Machine machine;
  Cmam cmam;
  unsigned answers = 0;
};

/// C-2: the order within a cycle cannot be seen; nor that nodes sleep, which they do where no order is given.
TEST(Ncube2Machine, LooksTheSameInWhateverOrderItIsStepped) {
  test::expect_the_same_in_any_order(4, 100, [](auto next) {
    AllToAll all;
    while (all.machine.now() < 6'000) all.machine.step(next());
    EXPECT_TRUE(all.is_done());
    return all.machine.fingerprint();
  });
}

/// C-3: where nothing is under way and a program waits for ever; or all have ended.
TEST(Ncube2Machine, SaysWhoWaitsForWhatDoesNotCome) {
  Machine machine(1);
  EXPECT_THAT([&] { machine.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(
                  "ncube2: no message has been under way for 101 cycles:\nall programs have ended\n"));
  Machine waiting(1);
  waiting.node(1).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(3'000);
    co_await cpu.halt();
  });
  EXPECT_THAT([&] { waiting.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(
                  testing::HasSubstr("node 1: its program waits for an interrupt\n")));
  EXPECT_EQ(waiting.now(), 3'000u) << "it computes, which is no reason to give it up";
}

}  // namespace am::ncube2::programs_test
