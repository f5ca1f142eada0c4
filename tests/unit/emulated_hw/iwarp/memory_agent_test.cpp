// Spooling on iWarp: criteria IW-1, IW-30 to IW-34, IW-39, IW-40 (Borkar et al. 1990, 2, 3.1.1, 7.2).
#include "emulated_hw/iwarp/memory_agent.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/iwarp/machine.hpp"
#include "emulated_hw/iwarp/programs/messages.hpp"

namespace am::iwarp::memory_agent_test {

using enum Direction;
using State = MemoryAgent::State;
using Result = MemoryAgent::Result;

struct Rates {
  double memory;                   // of its cycles, what the memory agent has
  double program;                  // and the program
  std::vector<std::size_t> words;  // that each gate has moved in 2000 cycles
};
/// A cell that spools in queues from its neighbours, `each` from each of so many, while its program computes.
Rates spool(unsigned neighbours, unsigned each) {
  Machine machine(grid_wiring(kit::Grid({{3}, {3}})));
  constexpr CellNumber center = 4;
  for (unsigned side = 0; side < neighbours; ++side) {
    const Direction to = opposite(static_cast<Direction>(side));
    machine.cell(neighbour(machine.network().wiring(), center, static_cast<Direction>(side)))
        .run([each, to](Processor& cpu) -> Program {
          Source source;
          for (unsigned gate = 0; gate < each; ++gate) {
            co_await cpu.open_next(to, source);
            cpu.bind_out(gate, source.own);
          }
          co_await cpu.cycles(100);  // the center sets up its gates
          for (Data i = 0;; ++i)
            co_await cpu.operate(0, (1u << each) - 1, [i](const Words&) { return Words{Word{i}, Word{i}}; });
        });
  }
  Processor& cpu = machine.cell(center);
  std::uint64_t computed = 0;
  std::vector<unsigned> gates_in_use;
  cpu.run([&](Processor& here) -> Program {
    if (neighbours * each < MemoryAgent::most_gates)  // one that stalls wastes nothing
      co_await here.spool_out(here.agent().take_own().value(), {4000, 90});
    for (unsigned i = 0; i < neighbours * each; ++i) {
      const Channel channel = co_await here.wait_for(Event::pathway_begin);
      gates_in_use.push_back(
          co_await here.spool_in({.channel = channel, .address = 500 * i, .limit = 500 * (i + 1) - 1}));
    }
    for (;; ++computed) co_await here.cycles(1);
  });
  const auto moved = [&] {
    std::vector<std::size_t> words;
    for (const unsigned gate : gates_in_use) words.push_back(cpu.memory_agent().result(gate).words);
    return words;
  };
  for (int cycle = 0; cycle < 300; ++cycle) machine.step();
  Rates rates{static_cast<double>(cpu.memory_agent().stolen()), static_cast<double>(computed), moved()};
  constexpr unsigned cycles = 400;
  for (unsigned cycle = 0; cycle < cycles; ++cycle) machine.step();
  rates.memory = (static_cast<double>(cpu.memory_agent().stolen()) - rates.memory) / cycles;
  rates.program = (static_cast<double>(computed) - rates.program) / cycles;
  const std::vector<std::size_t> after = moved();
  for (std::size_t i = 0; i < after.size(); ++i) rates.words[i] = after[i] - rates.words[i];
  return rates;
}

/// IW-30, IW-31 [P][D]: one queue at its peak of 40 MB/s takes a quarter of the memory's and of the program's cycles, four take all, and eight
/// share them, 20 MB/s each.
TEST(IwarpMemoryAgent, TakesAQuarterOfTheCyclesForEachQueue) {
  for (unsigned neighbours = 1; neighbours <= 4; ++neighbours) {
    const Rates rates = spool(neighbours, 1);
    EXPECT_EQ(rates.memory, 0.25 * neighbours);
    EXPECT_EQ(rates.program, 1 - 0.25 * neighbours);
    for (const std::size_t words : rates.words) EXPECT_EQ(words, 200u) << "40 MB/s";
  }
  const Rates eight = spool(4, 2);
  ASSERT_EQ(eight.words.size(), 8u);
  for (const std::size_t words : eight.words) EXPECT_NEAR(static_cast<double>(words), 100, 2) << "20 MB/s";
  EXPECT_EQ(eight.program, 0);
}

/// A sender of messages: so many words each, with markers around them.
void sends(Machine& machine, std::vector<unsigned> messages, bool closes = true) {
  machine.cell(0).run([messages, closes](Processor& cpu) -> Program {
    Source source;
    co_await cpu.open_next(x_right, source);
    cpu.bind_out(0, source.own);
    Data next = 0;
    for (const unsigned words : messages) {
      co_await cpu.begin_message(source, 0);
      for (unsigned i = 0; i < words; ++i) co_await cpu.write(0, {next++});
      co_await cpu.end_message(source);
    }
    if (closes) co_await cpu.close(source);
  });
}

/// IW-32 [P]: a spool ends by its count, or at the end of the message, however long that is; at its limit it stops, tells so, and writes
/// nothing behind.
TEST(IwarpMemoryAgent, EndsByCountByMarkerAndAtItsLimit) {
  Machine machine(grid_wiring(kit::Grid({{2}})), {}, 64);
  sends(machine, {10, 7, 30});
  const std::vector<MemoryAgent::Spool> spools = {{.address = 0, .limit = 60, .words = 5},
                                                  {.address = 20, .limit = 60, .words = 99, .to_end = true},
                                                  {.address = 40, .limit = 60, .to_end = true}};
  std::vector<Result> results;
  machine.cell(1).run([&](Processor& cpu) -> Program {
    const Channel channel = co_await cpu.accept(0);
    cpu.bind_in(0, channel);
    co_await cpu.read(0);
    for (const MemoryAgent::Spool& spool : spools) {
      MemoryAgent::Spool its = spool;
      its.channel = channel;
      results.push_back(co_await cpu.spooled(co_await cpu.spool_in(its)));
    }
    const unsigned gate =
        co_await cpu.spool_in({.channel = channel, .address = 30, .limit = 34, .to_end = true});
    results.push_back(co_await cpu.spooled(gate));
    cpu.bind_in(0, channel);
    const Word next = co_await cpu.read(0);
    EXPECT_EQ(next.data, 20u) << "what is left is still there: its header and three words are gone";
  });
  machine.run_until([&] { return results.size() == 4 && machine.cell(1).has_ended(); });
  EXPECT_EQ(results, (std::vector<Result>{
                         {State::over, 5}, {State::over, 5}, {State::over, 8}, {State::overflow, 4}}));
  const std::vector<Word>& memory = machine.cell(1).memory();
  EXPECT_EQ(memory[4], Word{4});
  EXPECT_EQ(memory[5], Word{}) << "not written";
  EXPECT_EQ(memory[24], Word{9});
  EXPECT_EQ(memory[40].tag, Tag::message_begin);
  EXPECT_EQ(memory[47], Word{16});
  EXPECT_EQ(memory[33], Word{19});
  EXPECT_EQ(memory[34], Word{}) << "the limit";

  MemoryAgent& agent = machine.cell(1).memory_agent();
  for (const MemoryAgent::Spool& bad : {MemoryAgent::Spool{.address = 5, .limit = 5},
                                        {.address = 0, .limit = 65},
                                        {.address = 9, .limit = 5}})
    EXPECT_THROW(agent.spool_in(bad), std::invalid_argument);
  EXPECT_THROW(agent.spool_out({.address = 60, .limit = 64, .words = 5}), std::invalid_argument);
  for (int i = 0; i < 8; ++i) agent.spool_in({.channel = 1, .address = 0, .limit = 64});
  EXPECT_THROW(agent.spool_in({.channel = 1, .address = 0, .limit = 64}), std::length_error);
}

/// IW-33, IW-34 [P]: a queue that goes on in memory from the middle of a message: the program reads the same words, markers among them, and the
/// cells before it get rid of theirs at once; it costs a cycle a word. Head out, tail in: more words than the piece of memory has.
TEST(IwarpMemoryAgent, ExtendsAQueueIntoMemory) {
  for (const unsigned memory_words : {1000u, 32u}) {
    Machine machine(grid_wiring(kit::Grid({{2}})), {}, memory_words);
    constexpr unsigned words = 300;
    sends(machine, {words});
    std::vector<Word> read;
    bool sender_was_free = false;
    machine.cell(1).run([&](Processor& cpu) -> Program {
      cpu.bind_in(0, co_await cpu.accept(0));
      while (read.size() < 20) read.push_back(co_await cpu.read(0));
      co_await cpu.extend(0, {0, memory_words});
      co_await cpu.cycles(1000);
      sender_was_free = machine.cell(0).has_ended();
      while (read.back().tag != Tag::pathway_end) read.push_back(co_await cpu.read(0));
    });
    machine.run_to_end();
    EXPECT_EQ(sender_was_free, memory_words == 1000);
    ASSERT_EQ(read.size(), words + 3);
    EXPECT_EQ(read[0].tag, Tag::message_begin);
    for (Data i = 0; i < words; ++i) ASSERT_EQ(read[i + 1], Word{i});
    EXPECT_EQ(read[words + 1].tag, Tag::message_end);
    EXPECT_NEAR(static_cast<double>(machine.cell(1).memory_agent().stolen()), words + 3 - 20, 20)
        << "a cycle for each word";
    MemoryAgent& agent = machine.cell(1).memory_agent();
    for (unsigned i = 0; i < 8; ++i)
      EXPECT_EQ(agent.spool_in({.channel = 0, .address = 0, .limit = 8}), i) << "free";
    unsigned own = 0;
    while (machine.network().agent(1).take_own()) ++own;
    EXPECT_EQ(own, 20u - 4) << "its channel, too";
  }
}

/// IW-40, IW-34: each end of a message is systolic or memory communication, by itself; neither tells the other.
TEST(IwarpMemoryAgent, LetsEachEndChooseItsStyle) {
  constexpr unsigned words = 50;
  for (const bool sends_memory : {false, true}) {
    for (const bool receives_memory : {false, true}) {
      Machine machine(grid_wiring(kit::Grid({{2}})), {}, 100);
      for (Data i = 0; i < words; ++i) machine.cell(0).memory()[i] = {i};
      machine.cell(0).run([&](Processor& cpu) -> Program {
        Source source;
        co_await cpu.open_next(x_right, source);
        cpu.bind_out(0, source.own);
        if (sends_memory) {
          co_await cpu.spooled(co_await cpu.spool_out(source.own, {0, words}));
        } else {
          for (Data i = 0; i < words; ++i) co_await cpu.write(0, {i});
        }
        co_await cpu.end_message(source);
        co_await cpu.close(source);
      });
      machine.cell(1).run([&](Processor& cpu) -> Program {
        const Channel channel = co_await cpu.accept(0);
        if (receives_memory) {
          co_await cpu.spooled(
              co_await cpu.spool_in({.channel = channel, .address = 0, .limit = 100, .to_end = true}));
          co_return;
        }
        cpu.bind_in(0, channel);
        for (unsigned i = 0; i < words; ++i) cpu.memory()[i] = co_await cpu.read(0);
      });
      machine.run_to_end();
      for (Data i = 0; i < words; ++i) ASSERT_EQ(machine.cell(1).memory()[i], Word{i});
      for (int cycle = 0; cycle < 20; ++cycle) machine.step();
      EXPECT_EQ(machine.network().under_way() == 0, receives_memory) << "no gate waits for the pathway's end";
      EXPECT_EQ(machine.cell(0).memory_agent().stolen() != 0, sends_memory);
      EXPECT_EQ(machine.cell(1).memory_agent().stolen() != 0, receives_memory);
    }
  }
}

/// IW-34, the other way: what a program writes by an output gate goes to memory, where that gate is bound to a channel that an input spools.
TEST(IwarpMemoryAgent, TakesWhatAProgramWritesByAGate) {
  Machine machine(grid_wiring(kit::Grid({{1}})), {}, 100);
  machine.cell(0).run([&](Processor& cpu) -> Program {
    const Channel own = cpu.agent().take_own().value();
    cpu.bind_out(1, own);
    const unsigned gate = co_await cpu.spool_in({.channel = own, .address = 0, .limit = 100, .words = 33});
    for (Data i = 0; i < 33; ++i) co_await cpu.write(1, {i});
    co_await cpu.spooled(gate);
  });
  machine.run_to_end();
  for (Data i = 0; i < 33; ++i) EXPECT_EQ(machine.cell(0).memory()[i], Word{i});
}

/// IW-39 [D]: station to station, the programs move each word twice in each cell; door to door, not once: the receiver has read the header
/// before the rest, and said where that goes.
TEST(IwarpMemoryAgent, BringsMessagesFromDoorToDoor) {
  const kit::Grid grid({{4, true}, {4, true}});
  constexpr std::size_t words = 40;
  std::vector<Cycle> cycles;
  for (const bool by_station : {true, false}) {
    Machine machine(grid_wiring(grid), {}, 256);
    const Route route = along(machine.network().wiring(), 0, on_grid(grid, 0, 11, Pool::open));
    for (Data i = 0; i < words; ++i) machine.cell(0).memory()[10 + i] = {100 + i};
    std::size_t came = 0;
    machine.cell(0).run([&](Processor& cpu) {
      const Area user{10, words}, system{128, 64};
      return by_station ? send_station_to_station(cpu, route, 50, user, system)
                        : send_door_to_door(cpu, route, 50, user);
    });
    machine.cell(11).run([&](Processor& cpu) {
      const Place place = [](Data header) { return header; };
      return by_station ? receive_station_to_station(cpu, 0, {128, 64}, place, came)
                        : receive_door_to_door(cpu, 0, place, came);
    });
    machine.run_to_end();
    EXPECT_EQ(came, words);
    for (Data i = 0; i < words; ++i) ASSERT_EQ(machine.cell(11).memory()[50 + i], Word{100 + i});
    for (const CellNumber cell : {0u, 11u})
      EXPECT_EQ(machine.cell(cell).memory_words(), by_station ? 2 * words : 0);
    EXPECT_EQ(machine.network().under_way(), 0u);
    cycles.push_back(machine.now());
  }
  EXPECT_GT(cycles[0], cycles[1] + 4 * words - 10);
}

}  // namespace am::iwarp::memory_agent_test
