// Programs on T1s: what their steps cost, and what preempts what (T1 report, 2.2.1, 3.4, 3.8, 3.10, A.9). Between the two nodes is a
// wire of known length: networks have their own tests.
#include "emulated_hw/t1/processor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "emulated_hw/t1/nistat.hpp"

namespace processor_test {

using namespace am::t1;

constexpr Address handler = 0x4000;
constexpr Address answer = 0x4100;
constexpr Address timelet = 0x7000;
constexpr Address outlet = 0x8000;
constexpr Word all_events =
    nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm;  // but outlets

/// Two T1s and a wire each way: a message of n flits is there `length` + n cycles after it could go.
class T1Programs : public testing::Test {
 protected:
  T1Programs() {
    for (Processor& cpu : cpus_) {
      cpu.ni().ctc2(Register::enable, 1);
      cpu.ni().ctc2(Register::nistat, all_events);
    }
  }
  void step() {
    ++now_;
    for (unsigned node = 0; node < 2; ++node) {
      NetworkInterface& ni = cpus_[node].ni();
      for (const Priority priority : {Priority::high, Priority::low}) {
        std::deque<OnItsWay>& wire = wires_[node][index(priority)];
        if (const auto& out = ni.outgoing(priority); out && wire.size() < capacity_) {
          wire.push_back({*out, now_ + length_ + out->flits()});
          ni.gone(priority);
        }
        NetworkInterface& there = cpus_[1 - node].ni();
        if (!wire.empty() && wire.front().there <= now_ && there.has_room(priority)) {
          there.deliver(wire.front().message);
          delivered_.push_back(now_);
          wire.pop_front();
        }
      }
    }
    for (Processor& cpu : cpus_) cpu.step();
  }
  template <class Pred>
  void until(Pred pred) {
    for (int i = 0; i < 10'000 && !pred(); ++i) step();
    ASSERT_TRUE(pred()) << "not after 10000 cycles";
  }

  struct OnItsWay {
    Message message;
    std::uint64_t there;
  };
  std::array<Processor, 2> cpus_{{Processor(0), Processor(1)}};
  std::array<std::array<std::deque<OnItsWay>, 2>, 2> wires_;
  std::vector<std::uint64_t> delivered_;
  std::uint64_t length_ = 10;
  std::size_t capacity_ = 4;
  std::uint64_t now_ = 0;
};

// 2.2.1: "less than 10 cycles for any message size up to the maximum of 37 words" to send, receive, and dispatch to the handler;
// CMAM takes 100 for 5 words. 3.10: about 5 to send, about 5 to receive.
TEST_F(T1Programs, SpendLessThanTenCyclesOnAMessageOfAnySize) {
  for (const Send& what : {Send{}, Send{.scalars = 5}, Send{.scalars = 5, .vector = true}}) {
    Processor from(0), to(1);
    to.ni().ctc2(Register::enable, 1);
    to.ni().ctc2(Register::nistat, all_events);
    std::uint64_t sent_at = 0, began_at = 0;
    from.run([&](Processor& cpu) -> Program {
      co_await cpu.send(what, 1, handler);
      sent_at = cpu.spent().all;
    });
    while (!from.has_ended()) from.step();
    EXPECT_EQ(sent_at, 5u);
    to.place(handler, [&](Processor& cpu) -> Program {
      began_at = cpu.spent().all;
      co_await cpu.cycles(3);
    });
    to.ni().deliver(from.ni().outgoing(Priority::low).value());
    for (int i = 0; i < 20; ++i) to.step();
    EXPECT_EQ(began_at, 4u);
    EXPECT_LT(sent_at + began_at, 10u);
    EXPECT_EQ(to.spent().dispatching, 5u) << "HRET included";
    EXPECT_EQ(to.spent().handling, 3u);
    EXPECT_EQ(to.spent().idle, 12u);
  }
}

// 3.4, Figure 8: a critical section is three instructions, and so is a poll.
TEST_F(T1Programs, FormCriticalSectionsAndPollsInThreeInstructions) {
  Processor& cpu = cpus_[0];
  std::vector<std::uint64_t> at;
  int handled = 0;
  bool handled_within = false;
  cpu.place(handler, [&](Processor& here) -> Program {
    ++handled;
    co_await here.cycles(1);
  });
  cpu.run([&](Processor& here) -> Program {
    co_await here.enter_critical();
    at.push_back(here.spent().all);
    co_await here.cycles(20);  // a message comes meanwhile
    handled_within = handled != 0;
    at.push_back(here.spent().all);
    co_await here.exit_critical();
    at.push_back(here.spent().all);
    co_await here.enter_critical();
    co_await here.cycles(20);  // another one
    at.push_back(here.spent().computing);
    co_await here.poll();
    at.push_back(here.spent().computing);
  });
  for (int i = 0; i < 5; ++i) cpu.step();
  cpu.ni().deliver({.handler = handler});
  for (int i = 0; i < 25; ++i) cpu.step();
  EXPECT_FALSE(handled_within);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(at[0], 1u);
  EXPECT_EQ(at[2] - at[1], 2u);
  cpu.ni().deliver({.handler = handler});
  for (int i = 0; i < 60; ++i) cpu.step();
  EXPECT_EQ(handled, 2) << "a poll takes what has come";
  EXPECT_EQ(at[4] - at[3], 3u);
  EXPECT_TRUE(cpu.has_ended());
}

// A.6: "interrupts or events cannot occur in the middle of its execution"; but in the middle of a stretch of computation they do, and
// it goes on where it was, with its registers.
TEST_F(T1Programs, ArePreemptedBetweenInstructionsOnly) {
  for (unsigned arrival = 0; arrival < 16; ++arrival) {
    Processor cpu(0);
    cpu.ni().ctc2(Register::enable, 1);
    cpu.ni().ctc2(Register::nistat, all_events);
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
      cpu.step();
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
TEST_F(T1Programs, NestTwoLevels) {
  Processor& cpu = cpus_[0];
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
    if (i == 10) cpu.ni().deliver(request);
    if (i == 20 || i == 30) {
      cpu.ni().deliver(i == 20 ? reply : request);
    }
    if (i == 35) cpu.ni().deliver(reply);
    cpu.step();
  }
  EXPECT_EQ(order, "([][])().");
  const Processor::Spent& spent = cpu.spent();
  EXPECT_EQ(spent.computing, 100u);
  EXPECT_EQ(spent.handling, 80u);
  EXPECT_EQ(spent.dispatching, 20u);
  EXPECT_EQ(spent.all, spent.computing + spent.handling + spent.dispatching + spent.idle);
}

// 2.2.1, Figures 3 and 4: fetch and add, as a Split-C program has it; the round trip is the sum of its parts.
TEST_F(T1Programs, FetchAndAdd) {
  int counter = 40;
  cpus_[1].place(handler, [&](Processor& cpu) -> Program {
    cpu.registers().data[2] = static_cast<Word>(counter++);
    co_await cpu.cycles(3);  // lw, addi, sw
    while (!co_await cpu.send({.scalars = 3, .priority = Priority::high}, cpu.registers().data[0], answer)) {
    }
  });
  Word fetched = 0;
  bool flag = false;
  cpus_[0].place(answer, [&](Processor& cpu) -> Program {
    fetched = cpu.registers().data[2];
    flag = true;
    co_await cpu.cycles(2);
  });
  std::uint64_t done = 0;
  cpus_[0].run([&](Processor& cpu) -> Program {
    cpu.registers().data = {0, 0x5000, 0, 0, 0};
    co_await cpu.send({.scalars = 2}, 1, handler);
    while (!flag) co_await cpu.cycles(1);
    done = cpu.spent().all;
  });
  until([&] { return cpus_[0].has_ended(); });
  EXPECT_EQ(fetched, 40u);
  EXPECT_EQ(counter, 41);
  // To send 5, from the next cycle on the wire 10 and a flit, to dispatch 4, to add 3, to answer 5, the wire 10 and two flits, to
  // dispatch 4, to store 2, to return 1; the loop sees it in its next cycle.
  EXPECT_EQ(done, 5u + (10 + 1 + 1) + (4 + 3 + 5) - 1 + (10 + 2 + 1) + (4 + 2 + 1) - 1 + 1);
}

// 3.5, A.1: sends fail while nobody takes them, and go through once somebody does, in order; a failed one costs what it costs.
TEST_F(T1Programs, SeeSendsFailAndTryAgain) {
  std::vector<Word> came;
  cpus_[1].place(handler, [&](Processor& cpu) -> Program {
    came.push_back(cpu.registers().data[0]);
    co_await cpu.cycles(1);
  });
  cpus_[1].ni().ctc2(Register::enable, 0);
  int failed = 0;
  cpus_[0].run([&](Processor& cpu) -> Program {
    for (Word i = 0; i < 20; ++i) {
      cpu.registers().data[0] = i;
      while (!co_await cpu.send({.scalars = 1}, 1, handler)) ++failed;
    }
  });
  for (int i = 0; i < 1000; ++i) step();
  EXPECT_GT(failed, 100);
  EXPECT_TRUE(came.empty());
  EXPECT_FALSE(cpus_[0].ni().nicond());
  cpus_[1].ni().ctc2(Register::enable, 1);
  until([&] { return came.size() == 20; });
  for (Word i = 0; i < 20; ++i) EXPECT_EQ(came[i], i);
}

// 3.9, A.9.2: a transfer in the background, by outlets: a send per block, the computation goes on.
TEST_F(T1Programs, TransferBlocksInTheBackground) {
  constexpr Word blocks = 16;
  std::vector<Word> memory(blocks * most_vector);
  cpus_[1].place(handler, [&](Processor& cpu) -> Program {
    std::ranges::copy(cpu.registers().vr1, memory.begin() + cpu.registers().data[0] * most_vector);
    co_await cpu.cycles(3);
  });
  cpus_[0].place(outlet, [&](Processor& cpu) -> Program {
    RegisterSet& registers = cpu.registers();
    Word& next = registers.temporary[0];  // kept between handlers: $8
    registers.data[0] = next;
    std::iota(registers.vr1.begin(), registers.vr1.end(), next * most_vector);
    co_await cpu.cycles(2);
    if (co_await cpu.send({.scalars = 1, .vector = true}, 1, handler)) ++next;
    if (next == blocks) {
      const Word status = co_await cpu.cfc2(Register::nistat);
      co_await cpu.ctc2(Register::nistat, status & ~nistat::om);
    }
  });
  bool computed = false;
  cpus_[0].ni().ctc2(Register::outh, outlet);
  cpus_[0].ni().ctc2(Register::nistat, all_events | nistat::om);
  cpus_[0].run([&](Processor& cpu) -> Program {
    co_await cpu.cycles(1000);
    computed = true;
  });
  until([&] { return computed && memory.back() != 0; });
  for (Word i = 0; i < memory.size(); ++i) EXPECT_EQ(memory[i], i);
  EXPECT_EQ(cpus_[0].spent().handling, blocks * (2 + 5) + 2);
  EXPECT_EQ(cpus_[0].spent().dispatching, blocks * 5);
}

// A.2.2, A.9.3: a timelet that sets the next one comes at exact times.
TEST_F(T1Programs, SetTimelets) {
  Processor& cpu = cpus_[0];
  std::vector<Word> at;
  cpu.place(timelet, [&](Processor& here) -> Program {
    at.push_back(co_await here.cfc2(Register::timec));
    co_await here.ctc2(Register::timec, at.back() + 50);
  });
  cpu.ni().ctc2(Register::timeh, timelet);
  cpu.ni().ctc2(Register::timec, 50);
  for (int i = 0; i < 210; ++i) cpu.step();
  EXPECT_EQ(at, (std::vector<Word>{50, 100, 150, 200}));
}

// 3.7: an event that leads nowhere is an exception, which here ends the simulation with one line.
TEST_F(T1Programs, EndWhereAnEventLeadsNowhere) {
  const auto what = [](const Message& message) -> std::string {
    Processor cpu(3);
    cpu.ni().ctc2(Register::enable, 1);
    cpu.ni().ctc2(Register::nistat, all_events);
    cpu.ni().deliver(message);
    try {
      cpu.step();
    } catch (const Exception& exception) {
      return exception.what();
    }
    return {};
  };
  EXPECT_EQ(what({.handler = 0x1230}), "node 3: address error: no code at 0x00001230");
  EXPECT_EQ(what({.handler = 0x80000010}),
            "node 3: address error: 0x80000010 is no address of code that this mode may run");
}

TEST_F(T1Programs, ThrowWhatTheirProgramsThrow) {
  Processor& cpu = cpus_[0];
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
  cpu.step();
  EXPECT_FALSE(caught);
  cpu.step();
  EXPECT_TRUE(caught);
  cpu.step();
  EXPECT_THROW(cpu.step(), Thrown);
}

// A.7: a handler that leaves EE or LPEE other than it found them returns to the wrong place.
TEST_F(T1Programs, MustRestoreTheirEnables) {
  Processor& cpu = cpus_[0];
  cpu.place(handler, [&](Processor& here) -> Program { co_await here.enter_critical(); });
  cpu.ni().deliver({.handler = handler});
  EXPECT_THROW(for (int i = 0; i < 20; ++i) cpu.step(), Exception);
}

}  // namespace processor_test
