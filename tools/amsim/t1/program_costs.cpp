#include "amsim/t1/program_costs.hpp"

#include <type_traits>

#include "emulated_hw/t1/programs/background_transfer.hpp"
#include "emulated_hw/t1/programs/hardware_transfer.hpp"
#include "emulated_hw/t1/programs/split_c.hpp"
#include "emulated_hw/t1/programs/tam.hpp"

namespace amsim::t1 {

namespace {

constexpr Word frame = 16;
constexpr GlobalPtr there{.node = 1, .offset = 0};

/// Node 0 computes, node 1 does nothing but what messages make it do.
struct Neighbours {
  /// Of node 0, until it has ended and nothing is under way.
  void run(const Processor::Code& computation) {
    machine.node(0).run(computation);
    constexpr int to_handle_and_return = 50;
    int calm = 0;
    machine.run_or_throw([&] {
      calm = machine.node(0).has_ended() && machine.mesh().under_way() == 0 ? calm + 1 : 0;
      return calm > to_handle_and_return;
    });
  }
  /// What went into events, all in all.
  [[nodiscard]] Cycle handling(NodeNumber node) {
    const Processor::Spent& spent = machine.node(node).spent();
    return spent.dispatching + spent.handling;
  }

  Machine machine{{.rows = 1, .columns = 2, .wraps = false}};
  Memories memories{2, 1024};
};

/// operation(by, cpu) has something done by `By`, which is a SplitC or a HardwareTransfer. It is followed by sync where it does not wait
/// itself.
template <class By, class Operation>
TransferCosts costs_of(const Operation& operation) {
  Neighbours neighbours;
  if constexpr (!std::is_same_v<By, SplitC>) neighbours.machine.add_hardware_handlers(neighbours.memories);
  By by(neighbours.machine, neighbours.memories);
  TransferCosts costs;
  neighbours.run([&](Processor& cpu) -> Program {
    co_await operation(by, cpu);
    costs.asking = cpu.spent().computing;
    if (by.pending(0) != 0) co_await by.sync(cpu);
    costs.took = neighbours.machine.now();
  });
  costs.answered = neighbours.handling(0);
  costs.stolen = neighbours.handling(1);
  return costs;
}

template <class Operation>
TransferCosts costs_of(HandledBy by, const Operation& operation) {
  return by == HandledBy::software ? costs_of<SplitC>(operation) : costs_of<HardwareTransfer>(operation);
}

Cycle inlet_of(Word words_to_come) {
  Neighbours pair;
  Tam tam(pair.machine, pair.memories);
  const auto nothing = tam.thread([](Processor&, Word) -> Program { co_return; });
  const Address inlet = tam.inlet({.slot = 0, .counter = 1, .thread = nothing});
  pair.memories.at(1, frame + 1) = words_to_come;
  pair.run(
      [&](Processor& cpu) -> Program { co_await tam.send(cpu, {.node = 1, .offset = frame}, inlet, 7); });
  return pair.handling(1);
}

Cycle stolen_by(Word pieces) {
  Neighbours pair;
  BackgroundTransfer transfer(pair.machine, pair.memories);
  pair.run([&](Processor& cpu) -> Program {
    co_await transfer.start(cpu, {.to = 1, .source = 0, .destination = 0, .words = pieces * most_vector});
    co_await cpu.cycles(1'000);
  });
  return pair.handling(0);
}

}  // namespace

ProgramCosts program_costs() {
  const TransferCosts put =
      costs_of<SplitC>([](SplitC& split_c, Processor& cpu) { return split_c.put(cpu, there, 1); });
  const TransferCosts fetch_and_add = costs_of<SplitC>([](SplitC& split_c, Processor& cpu) -> Program {
    Word fetched = 0;
    co_await split_c.fetch_and_add(cpu, there, fetched);
  });
  return {.put_handler = put.stolen,
          .done_handler = put.answered,
          .inlet = inlet_of(2),
          .posting_inlet = inlet_of(1),
          .put = put.took,
          .get = get_costs(HandledBy::software, 1).took,
          .fetch_and_add = fetch_and_add.took,
          .stolen_by_outlet = stolen_by(3) - stolen_by(2)};
}

TransferCosts get_costs(HandledBy by, Word words) {
  return costs_of(by, [words](auto& transfer, Processor& cpu) {
    return words == 1 ? transfer.get(cpu, there, 0) : transfer.bulk_get(cpu, there, 0, words);
  });
}

TransferCosts put_costs(HandledBy by, Word words) {
  return costs_of(
      by, [words](auto& transfer, Processor& cpu) { return transfer.bulk_put(cpu, there, 0, words); });
}

}  // namespace amsim::t1
