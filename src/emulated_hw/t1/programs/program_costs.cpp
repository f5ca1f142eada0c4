#include "emulated_hw/t1/programs/program_costs.hpp"

#include <functional>

#include "emulated_hw/t1/programs/background_transfer.hpp"
#include "emulated_hw/t1/programs/neighbours.hpp"
#include "emulated_hw/t1/programs/split_c.hpp"
#include "emulated_hw/t1/programs/tam.hpp"

namespace am::t1 {

namespace {

constexpr Word some_words = 4 * most_vector;
constexpr Word frame = 16;

using Operation = std::function<Program(SplitC&, Processor&)>;

/// How long it takes.
Cycle time_of(const Operation& operation) {
  Neighbours pair(2 * some_words);
  SplitC split_c(pair.machine, pair.memories);
  Cycle ended = 0;
  pair.run([&](Processor& cpu) -> Program {
    co_await operation(split_c, cpu);
    ended = pair.machine.now();
  });
  return ended;
}

Cycle inlet_of(Word words_to_come) {
  Neighbours pair(2 * some_words);
  Tam tam(pair.machine, pair.memories);
  const auto nothing = tam.thread([](Processor&, Word) -> Program { co_return; });
  const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = nothing});
  pair.memories.at(1, frame + 1) = words_to_come;
  pair.run(
      [&](Processor& cpu) -> Program { co_await tam.send(cpu, {.node = 1, .offset = frame}, inlet, 7); });
  return pair.handling(1);
}

Cycle stolen_by(Word pieces) {
  Neighbours pair(2 * some_words);
  BackgroundTransfer transfer(pair.machine, pair.memories);
  pair.run([&](Processor& cpu) -> Program {
    co_await transfer.start(cpu, {.to = 1, .source = 0, .destination = 0, .words = pieces * most_vector});
    co_await cpu.cycles(1'000);
  });
  return pair.handling(0);
}

}  // namespace

ProgramCosts program_costs() {
  ProgramCosts costs;
  {
    Neighbours pair(2 * some_words);
    SplitC split_c(pair.machine, pair.memories);
    pair.run([&](Processor& cpu) -> Program { co_await split_c.put(cpu, {.node = 1, .offset = 0}, 1); });
    costs.put_handler = pair.handling(1);
    costs.done_handler = pair.handling(0);
  }
  costs.inlet = inlet_of(2);
  costs.posting_inlet = inlet_of(1);
  costs.put = time_of([](SplitC& split_c, Processor& cpu) -> Program {
    co_await split_c.put(cpu, {.node = 1, .offset = 0}, 1);
    co_await split_c.sync(cpu);
  });
  costs.get = time_of([](SplitC& split_c, Processor& cpu) -> Program {
    co_await split_c.get(cpu, {.node = 1, .offset = 0}, 0);
    co_await split_c.sync(cpu);
  });
  costs.fetch_and_add = time_of([](SplitC& split_c, Processor& cpu) -> Program {
    Word fetched = 0;
    co_await split_c.fetch_and_add(cpu, {.node = 1, .offset = 0}, fetched);
  });
  costs.stolen_by_outlet = stolen_by(3) - stolen_by(2);
  return costs;
}

}  // namespace am::t1
