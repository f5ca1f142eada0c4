// The processor of an nCUBE/2 node: criteria NC-2, NC-3, NC-16 and NC-21 (von Eicken 1993, 3.1.1, 3.1.2, Figure 3-2).
#include "emulated_hw/ncube2/processor.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/ncube2/machine.hpp"

namespace am::ncube2::processor_test {

void run(Machine& machine, Cycle cycles) {
  for (Cycle cycle = 0; cycle < cycles; ++cycle) machine.step();
}

/// A message of `words` from a neighbour's memory, by an engine that nobody has set up with a program.
void send(Machine& machine, NodeNumber from, NodeNumber to, Word words) {
  const Address address{.node = to};
  machine.node(from).memory()[0] = address.word();
  machine.node(from).engines().send(first_dimension(from, address), 0, words);
}

/// NC-2, NC-3 [P]: the numbers of the table and of Figure 3-2.
TEST(Ncube2Processor, CostsWhatThePaperPrints) {
  namespace operand = costs::operand;
  EXPECT_EQ((std::vector{page_cycles, dram_cycles}), (std::vector{2u, 5u}));
  EXPECT_EQ((std::vector{operand::in_register, operand::indirect, operand::auto_decrement,
                         operand::auto_increment, operand::offset, operand::stack_offset, operand::stack,
                         operand::immediate, operand::absolute}),
            (std::vector{2u, 4u, 5u, 5u, 4u, 4u, 5u, 2u, 4u}));
  std::vector<unsigned> printed;
  for (const costs::Execution& row : {costs::add, costs::multiply, costs::divide, costs::remainder}) {
    for (const costs::Range& range : {row.integer, row.floating})
      printed.insert(printed.end(), {range.least, range.most});
  }
  EXPECT_EQ(printed, (std::vector{1u, 1u, 7u, 7u, 4u, 11u, 6u, 10u, 14u, 38u, 7u, 31u, 13u, 38u, 6u, 69u}));
  EXPECT_EQ((std::vector{costs::move, costs::shift, costs::find_first_one, costs::logic, costs::trap}),
            (std::vector{1u, 4u, 3u, 1u, 12u}));
  EXPECT_EQ(costs::saving, 6u * (2 + 5 + 1) + 5 + 13 * 2) << "derived, of registers that are assumed";
}

/// NC-2, NC-3: what steps take: instructions, accesses in and out of page mode, and a trap with all that it saves and restores.
TEST(Ncube2Processor, TakesTheSumOfItsParts) {
  Machine machine(1);
  Processor& cpu = machine.node(0);
  cpu.memory()[7] = 70;
  std::vector<Cycle> took;
  Cycle begun = 0;
  const auto lap = [&] {
    took.push_back(cpu.spent().all - begun);
    begun = cpu.spent().all;
  };
  const auto service = [](Processor& here) -> Program { co_await here.cycles(10); };
  Word loaded = 0;
  cpu.run([&](Processor& here) -> Program {
    loaded = co_await here.load(7);
    lap();
    co_await here.store(8, loaded + 1);
    lap();
    co_await here.accesses(0, 10);
    lap();
    co_await here.trap(service(here));
    lap();
  });
  run(machine, 1000);
  EXPECT_EQ(took,
            (std::vector<Cycle>{7 + 5, 7 + 5, 5 + 9 * 2, 12 + costs::saving + 10 + costs::restoring + 12}));
  EXPECT_TRUE(loaded == 70 && cpu.memory()[8] == 71 && cpu.has_ended() && cpu.stolen() == 0);
}

/// NC-16: each engine has its vector; its enable bit and the PSW's for its direction let it interrupt; in the kernel none does.
TEST(Ncube2Processor, IsInterruptedByEachEngineAtItsVector) {
  Machine machine(3);
  Processor& cpu = machine.node(0);
  std::string order;
  const auto place = [&](unsigned dimension, char input, char output) {
    cpu.on_input(dimension, [&order, dimension, input](Processor& here) -> Program {
      order += input;
      co_await here.clear_input(dimension);
      order += '.';
    });
    cpu.on_output(dimension, [&order, dimension, output](Processor& here) -> Program {
      order += output;
      co_await here.clear_output(dimension);
      order += '.';
    });
    cpu.engines().receive(dimension, 100 * dimension + 100);
    machine.node(1u << dimension).engines().receive(0, 0);
  };
  place(0, 'a', 'A');
  place(1, 'b', 'B');
  place(2, 'c', 'C');
  const auto service = [&](Processor& here) -> Program {
    order += '(';
    co_await here.cycles(1000);
    order += ')';
  };
  cpu.enabled() = {.inputs = 0b101, .outputs = 0b001};
  for (const NodeNumber other : {1u, 2u, 4u}) send(machine, other, 0, 2);
  send(machine, 0, 1, 3);
  cpu.run([&](Processor& here) -> Program {
    co_await here.trap(service(here));
    co_await here.cycles(100);
    order += '!';
  });
  run(machine, 3000);
  EXPECT_EQ(order, "()a.c.A.!") << "input first, and lower dimensions; none nests";
  EXPECT_EQ(cpu.engines().status().input_ready, 0b010) << "no interrupt, but a status bit";
  const Processor::Spent& spent = cpu.spent();
  EXPECT_EQ(spent.dispatching, 3u * (costs::trap + costs::reti));
  EXPECT_EQ(spent.handling, 3u * (costs::saving + costs::privileged + costs::restoring));
  EXPECT_EQ(spent.computing,
            100u + costs::trap + costs::saving + 1000 + costs::restoring + costs::reti + cpu.stolen());
}

/// NC-21: what engines steal of a processor that accesses memory all the time: 5 cycles for a word that comes, 7 for two that go, whether its
/// own accesses are in page mode or not. A channel brings a word in 36 cycles.
TEST(Ncube2Processor, LosesTheCyclesOfTheEnginesAccesses) {
  for (const unsigned accesses : {1u, 64u}) {
    for (const NodeNumber from : {0u, 1u}) {
      Machine machine(1);
      Processor& cpu = machine.node(0);
      constexpr Word words = 40;
      machine.node(1 - from).engines().receive(0, 100);
      send(machine, from, 1 - from, words);
      std::uint64_t made = 0;
      cpu.run([&](Processor& here) -> Program {
        for (; made < 1000; made += accesses) co_await here.accesses(0, accesses);
      });
      ASSERT_TRUE(machine.run_until([&] { return cpu.has_ended(); }));
      EXPECT_NE(machine.node(1 - from).engines().status().message_ready, 0);
      EXPECT_EQ(cpu.stolen(), from == 0 ? words / 2 * 7 : words * 5);
      EXPECT_EQ(machine.now(), cpu.stolen() + made / accesses * (5 + (accesses - 1) * 2));
    }
  }
}

}  // namespace am::ncube2::processor_test
