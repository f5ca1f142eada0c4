// Programs on an M-Machine under its clock: what they cost (thesis, 1.3, 3.1, 3.2.3, 7.2.2), what is forbidden them, and what goes wrong.
#include "emulated_hw/mmachine/machine.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace mmachine_machine_test {

using namespace am::mmachine;
using am::kit::NodeNumber;

Word handler(std::uint64_t address) { return pointer_to(PointerType::execute_message, address); }
constexpr std::uint64_t log_pages = 4;
Word on_node(NodeNumber node) {
  return pointer_to(PointerType::read_write, std::uint64_t{node} << (Gtlb::page_bits + log_pages));
}

/// All of the address space over all nodes of a mesh of 2^w by 2^h.
struct Mapped : Machine {
  explicit Mapped(std::uint8_t w, std::uint8_t h) : Machine({.width = 1u << w, .height = 1u << h}) {
    const Gtlb::Entry everything{.valid = true, .log_width = w, .log_height = h, .log_pages = log_pages};
    for (NodeNumber node = 0; node < nodes(); ++node) chip(node).output().gtlb().write(0, everything);
  }
  /// On the first node.
  Thread& run(unsigned cluster, unsigned slot, Thread::Code code, Privilege privilege = Privilege::user) {
    Thread& thread = chip(0).thread(cluster, slot);
    thread.run(std::move(code), privilege);
    return thread;
  }
  /// Whether an instruction ends with an exception, in a thread that does nothing else.
  template <class Instruction>
  bool is_refused(unsigned cluster, unsigned slot, Instruction instruction,
                  Privilege privilege = Privilege::user) {
    bool refused = false;
    const auto code = [&](Thread& thread) -> Program {
      try {
        co_await instruction(thread);
      } catch (const std::exception&) {
        refused = true;
      }
    };
    const Thread& thread = run(cluster, slot, code, privilege);
    for (int cycle = 0; cycle < 10; ++cycle) step();
    EXPECT_TRUE(thread.has_ended());
    return refused;
  }
};

/// A handler that sends messages of its own priority may wait for ever (3.3.1). Who computes does not stand still.
TEST(Machine, SaysInWhatCircleHandlersWaitAndThatNobodyComputes) {
  Mapped machine(1, 0);
  const auto send = [&](Thread& thread) {
    const NodePlace other{static_cast<std::uint8_t>(1 - thread.chip().place().x), 0};
    return thread.send({Send::isnd1pnt, {nid_of(other), false}, handler(0x100), 8});
  };
  machine.place(0x100, [&](Thread& thread) -> Program {
    for (int i = 0; i < 3; ++i) co_await send(thread);
  });
  machine.run(
      0, 0,
      [&](Thread& thread) -> Program {
        co_await thread.cycles(30'000);
        co_await send(thread);
        for (;;) co_await thread.full(0), thread.empty(0);
      },
      Privilege::system);
  EXPECT_FALSE(machine.run_until([] { return false; }, 1'000));
  EXPECT_GT(machine.now(), 30'000u);
  EXPECT_THAT(machine.who_waits(),
              testing::StartsWith("a circle: [0, 0] x down channel 2 -> [0, 0] y up turn buffer 3 -> "
                                  "[0, 0] network input P1 -> [0, 0] network output P1 -> "
                                  "[0, 0] x up turn buffer 3 -> [1, 0] x up channel 3 -> "
                                  "[1, 0] y up turn buffer 3 -> [1, 0] network input P1 -> "
                                  "[1, 0] network output P1 -> [1, 0] x down turn buffer 2 -> "
                                  "[0, 0] x down channel 2\n[0, 0] x down channel 2: message from [1, 0] to "
                                  "[0, 0] waits for room at [0, 0] y up turn buffer 3\n"));
}

TEST(Machine, AThreadThatWaitsTakesNoCycleOfItsCluster) {
  Mapped machine(0, 0);
  Cycle ended = 0;
  Thread& waits = machine.run(0, 0, [](Thread& thread) -> Program { co_await thread.full(3); });
  machine.run(0, 1, [&](Thread& thread) -> Program {
    co_await thread.cycles(100);
    ended = machine.now();
  });
  ASSERT_TRUE(machine.run_until([&] { return ended != 0; }));
  EXPECT_EQ(ended, 99u);
  waits.fill(3);
  machine.step();
  EXPECT_TRUE(waits.has_ended());
}

TEST(Machine, ThreadsOfAClusterTakeTurnsAndClustersDoNot) {
  Mapped machine(0, 0);
  std::array<Cycle, 3> ended{};
  for (const unsigned who : {0u, 1u, 2u}) {
    machine.run(who / 2, who % 2, [&, who](Thread& thread) -> Program {
      co_await thread.cycles(100);
      ended[who] = machine.now() + 1;
    });
  }
  machine.run_until([&] { return machine.now() == 300; });
  EXPECT_EQ(ended, (std::array<Cycle, 3>{199, 200, 100}));
}

/// Three operations are an instruction of one cycle, each on its unit (3.1.1); an instruction waits for what it reads, and for its turn.
TEST(Machine, OperationsShareAnInstructionAndInstructionsTheirCluster) {
  Mapped machine(0, 0);
  std::array<Cycle, 2> ready{};
  std::array<Thread*, 2> threads{};
  for (const unsigned who : {0u, 1u}) {
    threads[who] = &machine.run(0, who, [&, who](Thread& thread) -> Program {
      const Register loaded = co_await thread.issue(op::load());
      co_await thread.issue(op::move({}));
      co_await thread.issue({.unit = Unit::falu});
      ready[who] = (co_await thread.issue(op::compute(loaded))).ready;
    });
  }
  while (!threads[1]->has_ended()) machine.step();
  EXPECT_EQ(ready, (std::array<Cycle, 2>{load_cycles + 1, 1 + load_cycles + 1}));
  EXPECT_EQ(threads[0]->slots(), 4u);
}

/// A null message takes its thread 5 cycles; three where the program has made DestAddr and HandlerIP, from the last of its words on.
TEST(Machine, ASendWaitsForTheWordsThatOperationsMake) {
  Mapped machine(1, 0);
  machine.place(0x100, [](Thread&) -> Program { co_return; });
  std::array<Cycle, 2> sent{};
  const Thread& thread = machine.run(0, 0, [&](Thread& slot) -> Program {
    co_await slot.send({.instruction = Send::isnd0, .destination = on_node(1), .handler = handler(0x100)});
    sent[0] = machine.now() + 1;
    const Register loaded = co_await slot.issue(op::load());  // beside that SEND
    co_await slot.send({.instruction = Send::isnd0, .destination = on_node(1), .handler = handler(0x100)},
                       loaded);
    sent[1] = machine.now() + 1;
  });
  while (!thread.has_ended()) machine.step();
  EXPECT_EQ(sent, (std::array<Cycle, 2>{5, 4 + load_cycles + 3}));
  EXPECT_EQ(thread.slots(), 2 * send_cycles + 1u);
}

/// "Each cluster gets an opportunity to send its message eventually" (4.2.1).
TEST(Machine, ClustersShareTheOutputUnit) {
  Mapped machine(1, 0);
  machine.place(0x100, [](Thread&) -> Program { co_return; });
  std::array<unsigned, 3> sent{};
  for (unsigned cluster = 0; cluster < 3; ++cluster) {
    const auto sends = [&, cluster](Thread& thread) -> Program {
      for (;;) {
        co_await thread.send({Send::isnd0pnt, {1, false}, handler(0x100), 10});
        co_await thread.full(0);
        ++sent[cluster];
      }
    };
    machine.run(cluster, 0, sends, Privilege::system);
  }
  machine.run_until([&] { return machine.now() == 10'000; });
  const auto [least, most] = std::ranges::minmax(sent);
  EXPECT_GT(least, 100u);
  EXPECT_LE(most - least, 1u);
}

TEST(Machine, AMessageThatIsBrokenOffIsReportedAndTheNextIsHandled) {
  Mapped machine(1, 0);
  std::vector<std::string> said;
  machine.place(0x100, [](Thread&) -> Program {
    throw Exception("divided by zero");
    co_return;
  });
  machine.place(0x200, [](Thread& thread) -> Program {
    const Word nowhere{nid_of({7, 7}), false};
    co_await thread.send({.instruction = Send::isnd1pnt, .destination = nowhere, .handler = handler(0x100)});
  });
  machine.place(0x400, [&](Thread& thread) -> Program {
    said.push_back(thread.chip().last_exception());
    co_return;
  });
  machine.run(0, 0, [](Thread& thread) -> Program {
    for (const std::uint64_t at : {0x100u, 0x400u, 0x200u, 0x400u, 0x300u, 0x400u})
      co_await thread.send({.instruction = Send::isnd0, .destination = on_node(1), .handler = handler(at)});
  });
  ASSERT_TRUE(machine.run_until([&] { return said.size() == 3; }));
  EXPECT_EQ(said[0], "divided by zero");
  EXPECT_NE(said[1].find("[7, 7]"), std::string::npos) << said[1];
  EXPECT_EQ(said[2], "no code at " + std::to_string(0x300));
  EXPECT_EQ(machine.chip(1).exceptions(), 3u);
}

TEST(Machine, WhatAUserMayNotDoIsAnExceptionAndSendsNothing) {
  Mapped machine(1, 0);
  const Word to = on_node(1);
  for (const Thread::Sent& what :
       {Thread::Sent{.instruction = Send::isnd1pnt, .destination = {1, false}, .handler = handler(0x100)},
        {.instruction = Send::isnd0, .destination = {1, false}, .handler = handler(0x100)},
        {.instruction = Send::isnd0, .destination = to, .handler = to},
        {.instruction = Send::isnd0, .destination = to, .handler = handler(0x100), .argcount = 11},
        {.instruction = Send::isnd0, .destination = to, .handler = handler(0x100), .node = NodePlace{1, 0}}})
    EXPECT_TRUE(machine.is_refused(0, 0, [&](Thread& thread) { return thread.send(what); }));
  EXPECT_TRUE(machine.is_refused(0, 0, [](Thread& thread) { return thread.give_back_buffer(); }));
  EXPECT_TRUE(machine.is_refused(0, 0, [](Thread& thread) { return thread.write_gtlb(0, {}, false); }));
  EXPECT_TRUE(machine.chip(0).output().is_empty());
  EXPECT_EQ(machine.mesh().under_way(), 0u);
}

/// Messages are for the slots of messages alone (3.2.2), events for theirs.
TEST(Machine, MessagesAndEventsAreReadInTheirSlotsOnly) {
  Mapped machine(0, 0);
  const auto head = [](Thread& thread) { return thread.msg_head(); };
  const auto body = [](Thread& thread) { return thread.msg_body(); };
  const auto event = [](Thread& thread) { return thread.event_word(); };
  for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster) {
    EXPECT_TRUE(machine.is_refused(cluster, 0, head, Privilege::system));
    EXPECT_TRUE(machine.is_refused(cluster, 0, body, Privilege::system));
    EXPECT_TRUE(machine.is_refused(cluster, 0, event, Privilege::system));
  }
  EXPECT_TRUE(machine.is_refused(Chip::event_cluster, Chip::reserved_slot, body, Privilege::system));
}

TEST(Machine, AConditionThatThereIsNotIsSaid) {
  Mapped machine(0, 0);
  constexpr unsigned none = Thread::conditions;
  EXPECT_TRUE(machine.is_refused(0, 0, [](Thread& thread) { return thread.full(none); }));
  EXPECT_TRUE(machine.is_refused(0, 0, [](Thread& thread) {
    return thread.send({Send::isnd0, on_node(0), handler(0x100), 0, none});
  }));
  EXPECT_THROW(machine.chip(0).thread(0, 0).fill(none), std::out_of_range);
  EXPECT_THROW(machine.chip(0).thread(0, 0).empty(none), std::out_of_range);
}

TEST(Machine, AProgramThatThrewHasEndedAndItsSlotRunsTheNext) {
  Mapped machine(0, 0);
  Thread& thread = machine.chip(0).thread(0, 0);
  thread.fill(3);
  thread.run(
      [](Thread& slot) -> Program {
        co_await slot.cycles(2);
        co_await slot.full(3);
        throw std::runtime_error("broken");
      },
      Privilege::user);
  machine.step();
  EXPECT_THROW(machine.step(), std::runtime_error);
  EXPECT_TRUE(thread.has_ended());
  machine.step();
  for (int again = 0; again < 3; ++again) {
    thread.run([](Thread& slot) -> Program { co_await slot.cycles(1); }, Privilege::user);
    EXPECT_THROW(thread.run([](Thread&) -> Program { co_return; }, Privilege::user), std::logic_error);
    machine.step();
    EXPECT_TRUE(thread.has_ended());
  }
}

}  // namespace mmachine_machine_test
