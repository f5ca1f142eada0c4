// Programs on an M-Machine under its clock: what they cost (thesis, 1.3, 3.1, 3.2.3, 7.2.2), what is forbidden them, and what goes wrong.
#include "emulated_hw/mmachine/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"
#include "emulated_hw/mmachine/programs/ping.hpp"
#include "support/random.hpp"

namespace mmachine_machine_test {

using namespace am::mmachine;
using am::kit::NodeNumber;

Word pointer(PointerType type, std::uint64_t address) { return {pointer_bits(type, 43, address), true}; }
Word handler(std::uint64_t address) { return pointer(PointerType::execute_message, address); }
Word memory(std::uint64_t address) { return pointer(PointerType::read_write, address); }

constexpr std::uint64_t log_pages = 4;
constexpr std::uint64_t node_addresses = std::uint64_t{1} << (Gtlb::page_bits + log_pages);
/// All of the address space over all nodes of a mesh of 2^w by 2^h.
Gtlb::Entry everything(unsigned w, unsigned h) {
  return {.valid = true,
          .log_width = static_cast<std::uint8_t>(w),
          .log_height = static_cast<std::uint8_t>(h),
          .log_pages = log_pages};
}
Word on_node(NodeNumber node) { return memory(node * node_addresses); }

struct Mapped : Machine {
  explicit Mapped(unsigned w, unsigned h) : Machine({.width = 1u << w, .height = 1u << h}) {
    for (NodeNumber node = 0; node < nodes(); ++node) chip(node).output().gtlb().write(0, everything(w, h));
  }
};

/// "A round-trip message to the nearest-neighbor processor takes only 38 cycles" (1.3): two times 5 to send, 11 on the way, 3 to dispatch.
TEST(Machine, ANeighbourAnswersIn38Cycles) {
  for (const NodeNumber to : {1u, 2u}) {
    const PingTimes times = ping({.width = 2, .height = 2}, 0, to);
    EXPECT_EQ(times.sent, 5u);
    EXPECT_EQ(times.came, 5u + 11u);
    EXPECT_EQ(times.handled, 19u) << "a datum is in remote memory (Figure 3-2)";
    EXPECT_EQ(times.answered, 38u);
  }
}
/// A cycle for each link more.
TEST(Machine, AcrossTheMachine) {
  EXPECT_EQ(ping({.width = 8, .height = 8}, 0, 63).answered, 38u + 2 * 13);
  EXPECT_EQ(ping({.width = 8, .height = 8, .channels = 2}, 63, 0).answered, 38u + 2 * 13);
  EXPECT_EQ(ping({.width = 2}, 1, 1).answered, 38u - 2);
}

/// The listing of 3.2.3: "as few as 16 cycles to traverse the injection and extraction interfaces", which leaves out the network.
TEST(Machine, FetchAndAdd) {
  Mapped machine(1, 0);
  std::uint64_t value = 40, fetched = 0;
  machine.place(0x100, [&](Thread& thread) -> Program {
    co_await thread.msg_body();
    const Word sender = co_await thread.msg_body();
    const Word address = co_await thread.msg_body();
    EXPECT_FALSE(check_store(address));
    const Word by = co_await thread.msg_body();
    thread.integers[0] = {std::exchange(value, value + by.bits), false};
    co_await thread.cycles(3);
    co_await thread.send(
        {.instruction = Send::isnd1pnt, .destination = sender, .handler = handler(0x200), .argcount = 1});
  });
  machine.place(0x200, [&](Thread& thread) -> Program {
    for (int skipped = 0; skipped < 3; ++skipped) co_await thread.msg_body();
    fetched = (co_await thread.msg_body()).bits;
    co_await thread.cycles(1);
  });
  machine.chip(0).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        thread.integers[0] = {2, false};
        co_await thread.cycles(1);
        co_await thread.send({Send::isnd0, on_node(1), handler(0x100), 1});
        co_await thread.full(0);
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return fetched == 40; }));
  EXPECT_EQ(value, 42u);
}

TEST(Machine, AThreadThatWaitsTakesNoCycleOfItsCluster) {
  Mapped machine(0, 0);
  Cycle ended = 0;
  machine.chip(0).thread(0, 0).run([](Thread& thread) -> Program { co_await thread.full(3); },
                                   Privilege::user);
  machine.chip(0).thread(0, 1).run(
      [&](Thread& thread) -> Program {
        co_await thread.cycles(100);
        ended = machine.now();
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return ended != 0; }));
  EXPECT_EQ(ended, 99u);
  machine.chip(0).thread(0, 0).fill(3);
  machine.step();
  EXPECT_TRUE(machine.chip(0).thread(0, 0).has_ended());
}

TEST(Machine, ThreadsOfAClusterTakeTurnsAndClustersDoNot) {
  Mapped machine(0, 0);
  std::array<Cycle, 3> ended{};
  const auto counts = [&](unsigned who) {
    return [&, who](Thread& thread) -> Program {
      co_await thread.cycles(100);
      ended[who] = machine.now() + 1;
    };
  };
  machine.chip(0).thread(0, 0).run(counts(0), Privilege::user);
  machine.chip(0).thread(0, 1).run(counts(1), Privilege::user);
  machine.chip(0).thread(1, 0).run(counts(2), Privilege::user);
  machine.run_until([&] { return machine.now() == 300; });
  EXPECT_EQ(ended[0], 199u);
  EXPECT_EQ(ended[1], 200u);
  EXPECT_EQ(ended[2], 100u);
}

/// "Each cluster gets an opportunity to send its message eventually" (4.2.1).
TEST(Machine, ClustersShareTheOutputUnit) {
  Mapped machine(1, 0);
  machine.place(0x100, [](Thread&) -> Program { co_return; });
  std::array<unsigned, 3> sent{};
  for (unsigned cluster = 0; cluster < 3; ++cluster) {
    machine.chip(0)
        .thread(cluster, 0)
        .run(
            [&, cluster](Thread& thread) -> Program {
              for (;;) {
                co_await thread.send({.instruction = Send::isnd0pnt,
                                      .destination = {1, false},
                                      .handler = handler(0x100),
                                      .argcount = 10});
                co_await thread.full(0);
                ++sent[cluster];
              }
            },
            Privilege::system);
  }
  machine.run_until([&] { return machine.now() == 10'000; });
  const auto [least, most] = std::ranges::minmax(sent);
  EXPECT_GT(least, 100u);
  EXPECT_LE(most - least, 1u);
}

TEST(Machine, AMessageThatIsBrokenOffIsReportedAndTheNextIsHandled) {
  Mapped machine(1, 0);
  unsigned handled = 0;
  machine.place(0x100, [&](Thread&) -> Program {
    ++handled;
    throw Exception("divided by zero");
    co_return;
  });
  machine.place(0x200, [&](Thread&) -> Program {
    ++handled;
    co_return;
  });
  machine.chip(0).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        for (const std::uint64_t at : {0x100, 0x300, 0x200})
          co_await thread.send({.instruction = Send::isnd0,
                                .destination = on_node(1),
                                .handler = handler(static_cast<std::uint64_t>(at))});
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return handled == 2 && machine.chip(1).counts().handled[0] == 3; }));
  EXPECT_EQ(machine.chip(1).counts().exceptions, 2u) << "one that threw, one without code";
  EXPECT_EQ(machine.chip(1).last_exception(), "no code at " + std::to_string(0x300));
}

TEST(Machine, AHandlerThatAnswersToNowhereIsEndedAndTheNextIsHandled) {
  Mapped machine(1, 0);
  unsigned handled = 0;
  machine.place(0x100, [&](Thread& thread) -> Program {
    if (++handled == 2) co_return;
    co_await thread.send(
        {.instruction = Send::isnd1pnt, .destination = {nid_of({7, 7}), false}, .handler = handler(0x100)});
  });
  machine.chip(0).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        for (int i = 0; i < 2; ++i)
          co_await thread.send(
              {.instruction = Send::isnd0, .destination = on_node(1), .handler = handler(0x100)});
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return handled == 2; }));
  EXPECT_EQ(machine.chip(1).counts().exceptions, 1u);
  EXPECT_NE(machine.chip(1).last_exception().find("[7, 7]"), std::string::npos);
}

TEST(Machine, WhatAUserMayNotDoIsAnExceptionAndSendsNothing) {
  Mapped machine(1, 0);
  std::vector<std::string> said;
  machine.chip(0).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        const std::vector<Thread::Sent> forbidden = {
            {.instruction = Send::isnd1pnt, .destination = {1, false}, .handler = handler(0x100)},
            {.instruction = Send::isnd0, .destination = {1, false}, .handler = handler(0x100)},
            {.instruction = Send::isnd0, .destination = on_node(1), .handler = memory(0x100)},
            {.instruction = Send::isnd0,
             .destination = on_node(1),
             .handler = handler(0x100),
             .argcount = 11},
            {.instruction = Send::isnd0,
             .destination = on_node(1),
             .handler = handler(0x100),
             .node = NodePlace{1, 0}}};
        for (const Thread::Sent& what : forbidden) {
          try {
            co_await thread.send(what);
          } catch (const Exception& exception) {
            said.push_back(exception.what());
          }
        }
        try {
          co_await thread.give_back_buffer();
        } catch (const Exception& exception) {
          said.push_back(exception.what());
        }
        try {
          co_await thread.write_gtlb(0, {}, false);
        } catch (const Exception& exception) {
          said.push_back(exception.what());
        }
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return machine.chip(0).thread(0, 0).has_ended(); }));
  EXPECT_EQ(said.size(), 7u);
  EXPECT_EQ(machine.chip(0).counts().sent, 0u);
  EXPECT_EQ(machine.mesh().under_way(), 0u);
}

/// Messages are for the slots of messages alone (3.2.2), events for theirs.
TEST(Machine, MessagesAndEventsAreReadInTheirSlotsOnly) {
  Mapped machine(0, 0);
  unsigned refused = 0;
  const auto reads = [&](unsigned what) {
    return [&refused, what](Thread& thread) -> Program {
      try {
        if (what == 0) co_await thread.msg_head();
        if (what == 1) co_await thread.msg_body();
        if (what == 2) co_await thread.event_word();
      } catch (const Exception&) {
        ++refused;
      }
    };
  };
  for (unsigned what = 0; what < 3; ++what) {
    for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster)
      machine.chip(0).thread(cluster, what).run(reads(what), Privilege::system);
  }
  machine.chip(0).thread(Chip::event_cluster, Chip::reserved_slot).run(reads(1), Privilege::system);
  for (int cycle = 0; cycle < 10; ++cycle) machine.step();
  EXPECT_EQ(refused, 10u);
}

TEST(Machine, AConditionThatThereIsNotIsSaid) {
  Mapped machine(0, 0);
  unsigned refused = 0;
  machine.chip(0).thread(0, 0).run(
      [&](Thread& thread) -> Program {
        for (int way = 0; way < 4; ++way) {
          try {
            if (way == 0) co_await thread.full(Thread::conditions);
            if (way == 1) thread.fill(Thread::conditions);
            if (way == 2) thread.empty(Thread::conditions);
            if (way == 3)
              co_await thread.send({.instruction = Send::isnd0,
                                    .destination = on_node(0),
                                    .handler = handler(0x100),
                                    .condition = Thread::conditions});
          } catch (const std::exception&) {
            ++refused;
          }
        }
      },
      Privilege::user);
  for (int cycle = 0; cycle < 10; ++cycle) machine.step();
  EXPECT_EQ(refused, 4u);
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

/// Two entries' worth of system tables more than the GTLB holds: misses, and all come. (Each thread waits for its Ack; for order without
/// that: programs/gtlb_misses_test.cpp.)
TEST(Machine, GtlbMissesAreServed) {
  constexpr unsigned regions = 9;  // of one page each, on node 1
  Machine machine({.width = 2});
  const auto page = [](std::uint64_t address) { return address >> Gtlb::page_bits; };
  GtlbMisses misses([&](std::uint64_t address) -> std::optional<Gtlb::Entry> {
    if (page(address) >= regions) return {};
    return Gtlb::Entry{.valid = true, .base = {1, 0}, .tag = page(address), .mask = ~std::uint64_t{0}};
  });
  machine.chip(0)
      .thread(Chip::event_cluster, Chip::reserved_slot)
      .run([&](Thread& thread) { return misses.serve(thread); }, Privilege::system);
  std::vector<std::uint64_t> came;
  machine.place(0x100, [&](Thread& thread) -> Program {
    for (int skipped = 0; skipped < 2; ++skipped) co_await thread.msg_body();
    const Word address = co_await thread.msg_body();
    const Word number = co_await thread.msg_body();
    EXPECT_TRUE(address.is_pointer);
    EXPECT_EQ(page(GuardedPointer::of(address)->address()), number.bits * 5 % regions);
    came.push_back(number.bits);
    co_await thread.cycles(1);
  });
  constexpr std::uint64_t messages = 200;
  machine.chip(0).output().set_buffers(messages + 1);  // nobody acknowledges
  const auto sends = [&](Send what, std::uint64_t first) {
    return [&machine, what, first](Thread& thread) -> Program {
      auto& registers = send_instruction(what).is_floating ? thread.floating : thread.integers;
      for (std::uint64_t number = first; number < messages; number += 2) {
        registers[0] = {number, false};
        co_await thread.send({what, memory((number * 5 % regions) << Gtlb::page_bits), handler(0x100), 1, 7});
        co_await thread.full(7);
      }
    };
  };
  machine.chip(0).thread(0, 0).run(sends(Send::isnd0o, 0), Privilege::user);
  machine.chip(0).thread(1, 1).run(sends(Send::fsnd0o, 1), Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return came.size() == messages; }));
  for (const std::uint64_t which : {0u, 1u}) {
    std::vector<std::uint64_t> of_one;
    std::ranges::copy_if(came, std::back_inserter(of_one),
                         [&](std::uint64_t number) { return number % 2 == which; });
    EXPECT_TRUE(std::ranges::is_sorted(of_one));
    EXPECT_EQ(of_one.size(), messages / 2);
  }
  EXPECT_GT(misses.sent(), messages / 2);
  EXPECT_EQ(machine.chip(0).output().buffers(), 1u);

  // An address that nobody has.
  machine.chip(0).thread(2, 0).run(
      [&](Thread& thread) -> Program {
        co_await thread.send({.instruction = Send::isnd0o,
                              .destination = memory(20 << Gtlb::page_bits),
                              .handler = handler(0x100),
                              .condition = 7});
        co_await thread.full(7);
      },
      Privilege::user);
  ASSERT_TRUE(
      machine.run_until([&] { return misses.dropped() == 1 && !machine.chip(0).output().has_missed(); }));
  EXPECT_EQ(machine.chip(0).output().buffers(), 1u) << "given back";
  EXPECT_FALSE(machine.chip(0).thread(2, 0).has_ended());
}

TEST(Machine, NobodySeesInWhichOrderNodesAreStepped) {
  const auto run = [](bool shuffled) {
    Mapped machine(2, 1);
    std::vector<std::uint64_t> sums(machine.nodes());
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.chip(node).place(0x100, [&sums, node, &machine](Thread& thread) -> Program {
        co_await thread.msg_body();
        const Word sender = co_await thread.msg_body();
        co_await thread.msg_body();
        sums[node] += (co_await thread.msg_body()).bits * machine.now();
        co_await thread.cycles(2);
        co_await thread.send(
            {.instruction = Send::isnd1pnto, .destination = sender, .handler = handler(0x200)});
      });
      machine.chip(node).place(0x200, [](Thread& thread) -> Program { co_await thread.give_back_buffer(); });
      machine.chip(node).thread(0, 0).run(
          [node, &machine](Thread& thread) -> Program {
            test::Random random(node);
            for (int i = 0; i < 100; ++i) {
              thread.integers[0] = {random.below(1000), false};
              const auto to = static_cast<NodeNumber>(random.below(machine.nodes()));
              co_await thread.send({random.one_in(2) ? Send::isnd0 : Send::isnd0o, on_node(to),
                                    handler(0x100), 1 + static_cast<unsigned>(random.below(9))});
              co_await thread.full(0);
            }
          },
          Privilege::user);
    }
    std::vector<NodeNumber> order(machine.nodes());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(test::seed());
    for (int i = 0; i < 20'000; ++i) {
      std::ranges::shuffle(order, random);
      machine.step(shuffled ? std::span<const NodeNumber>(order) : std::span<const NodeNumber>());
    }
    sums.push_back(machine.mesh().fingerprint());
    return sums;
  };
  const auto one = run(false);
  EXPECT_EQ(one, run(true));
  EXPECT_TRUE(std::ranges::none_of(one, [](std::uint64_t sum) { return sum == 0; }));
}

}  // namespace mmachine_machine_test
