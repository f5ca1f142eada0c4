// Programs on a T1: what preempts what, and when (T1 report, 3.4, 3.7, A.1, A.6, A.7). What their steps cost is in
// programs/experiments_test.cpp.
#include "emulated_hw/t1/processor.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/t1/nistat.hpp"

namespace processor_test {

using namespace am::t1;

constexpr Address handler = 0x4000;
constexpr Address answer = 0x4100;

/// A T1 whose events are enabled, as a program sets it up.
struct Ready : Processor {
  explicit Ready(std::uint32_t node) : Processor(node) {
    ni().ctc2(Register::enable, 1);
    ni().ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm);
  }
  void step(int cycles) {
    for (int i = 0; i < cycles; ++i) Processor::step();
  }
};

// 3.4, Figure 8: what comes in a critical section waits for its end, or for a poll.
TEST(T1Programs, FormCriticalSectionsAndPolls) {
  Ready cpu(0);
  int handled = 0;
  std::vector<int> seen;
  cpu.place(handler, [&](Processor& here) -> Program {
    ++handled;
    co_await here.cycles(1);
  });
  cpu.run([&](Processor& here) -> Program {
    co_await here.enter_critical();
    co_await here.cycles(20);  // a message comes meanwhile
    seen.push_back(handled);
    co_await here.exit_critical();
    co_await here.cycles(1);
    seen.push_back(handled);
    co_await here.enter_critical();
    co_await here.cycles(20);  // another one
    seen.push_back(handled);
    co_await here.poll();
    seen.push_back(handled);
  });
  for (int message = 0; message < 2; ++message) {
    cpu.step(5);
    cpu.ni().deliver({.handler = handler});
    cpu.step(25);
  }
  cpu.step(40);
  EXPECT_EQ(seen, (std::vector{0, 1, 1, 2}));
  EXPECT_TRUE(cpu.has_ended());
}

// A.6: "interrupts or events cannot occur in the middle of its execution"; but in the middle of a stretch of computation they do, and
// it goes on where it was, with its registers.
TEST(T1Programs, ArePreemptedBetweenInstructionsOnly) {
  for (unsigned arrival = 0; arrival < 16; ++arrival) {
    Ready cpu(0);
    std::uint64_t began = 0, sent = 0, ended = 0;
    cpu.place(handler, [&](Processor& here) -> Program {
      began = here.spent().all;
      here.registers().data[0] = 99;
      co_await here.cycles(2);
    });
    cpu.run([&](Processor& here) -> Program {
      here.registers().data[0] = 7;
      co_await here.cycles(4);
      co_await here.send({.scalars = 1}, 1, answer);
      sent = here.spent().all;
      co_await here.cycles(4);
      ended = here.spent().all;
    });
    for (unsigned i = 0; i < 40; ++i) {
      if (i == arrival) cpu.ni().deliver({.handler = handler});
      cpu.step(1);
    }
    // The send takes cycles 4 to 8. What comes at its first instruction still goes before it.
    const bool before = arrival <= 4, within = arrival > 4 && arrival < 9;
    EXPECT_EQ(sent, before ? 16u : 9u) << arrival;
    EXPECT_EQ(began, (within ? 9 : arrival) + 4) << arrival;
    EXPECT_EQ(ended, arrival < 13 ? 20u : 13u) << arrival;
    EXPECT_EQ(cpu.ni().outgoing(Priority::low)->scalar[0], 7u);
  }
}

// A.1, 3.5: a request's handler is preempted by a reply, not by another request; a reply's by nothing.
TEST(T1Programs, NestTwoLevels) {
  Ready cpu(0);
  std::string order;
  cpu.place(handler, [&](Processor& here) -> Program {
    order += '(';
    co_await here.cycles(20);
    order += ')';
  });
  cpu.place(answer, [&](Processor& here) -> Program {
    order += '[';
    co_await here.cycles(20);
    order += ']';
  });
  cpu.run([&](Processor& here) -> Program {
    co_await here.cycles(100);
    order += '.';
  });
  const Message request{.handler = handler}, reply{.handler = answer, .priority = Priority::high};
  for (int i = 0; i < 300; ++i) {
    if (i == 10 || i == 30) cpu.ni().deliver(request);
    if (i == 20 || i == 35) cpu.ni().deliver(reply);
    cpu.step(1);
  }
  EXPECT_EQ(order, "([][])().");
  const Processor::Spent& spent = cpu.spent();
  EXPECT_EQ(spent.computing, 100u);
  EXPECT_EQ(spent.handling, 80u);
  EXPECT_EQ(spent.dispatching, 20u);
  EXPECT_EQ(spent.all, spent.computing + spent.handling + spent.dispatching + spent.idle);
}

// 3.7: an event that leads nowhere is an exception, which here ends the simulation with one line.
TEST(T1Programs, EndWhereAnEventLeadsNowhere) {
  const auto expect = [](Address at, const char* why) {
    Ready cpu(3);
    cpu.ni().deliver({.handler = at});
    EXPECT_THAT([&] { cpu.step(1); }, testing::ThrowsMessage<Exception>(why));
  };
  expect(0x1230, "node 3: address error: no code at 0x00001230");
  expect(0x80000010, "node 3: address error: 0x80000010 is no address of code that this mode may run");
}

TEST(T1Programs, ThrowWhatTheirProgramsThrow) {
  Ready cpu(0);
  struct Thrown {};
  const auto inner = [](Processor& here) -> Program {
    co_await here.cycles(2);
    throw Thrown();
  };
  bool caught = false;
  cpu.run([&](Processor& here) -> Program {
    try {
      co_await inner(here);
    } catch (const Thrown&) {
      caught = true;
    }
    co_await inner(here);
  });
  cpu.step(1);
  EXPECT_FALSE(caught);
  cpu.step(1);
  EXPECT_TRUE(caught);
  cpu.step(1);
  EXPECT_THROW(cpu.step(1), Thrown);
}

// A.7: a handler that leaves EE or LPEE other than it found them returns to the wrong place.
TEST(T1Programs, MustRestoreTheirEnables) {
  Ready cpu(0);
  cpu.place(handler, [&](Processor& here) -> Program { co_await here.enter_critical(); });
  cpu.ni().deliver({.handler = handler});
  EXPECT_THROW(cpu.step(20), Exception);
}

}  // namespace processor_test
