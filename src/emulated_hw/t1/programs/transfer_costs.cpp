#include "emulated_hw/t1/programs/transfer_costs.hpp"

#include "emulated_hw/t1/programs/hardware_transfer.hpp"
#include "emulated_hw/t1/programs/neighbours.hpp"
#include "emulated_hw/t1/programs/split_c.hpp"

namespace am::t1 {

namespace {

/// operation(by, cpu) has a get or a put done by `by`, which is a SplitC or a HardwareTransfer.
template <class By, class Operation>
TransferCosts costs_of(Neighbours& neighbours, const Operation& operation) {
  By by(neighbours.machine, neighbours.memories);
  TransferCosts costs;
  neighbours.run([&](Processor& cpu) -> Program {
    co_await operation(by, cpu);
    costs.asking = cpu.spent().computing;
    co_await by.sync(cpu);
    costs.took = neighbours.machine.now();
  });
  costs.answered = neighbours.handling(0);
  costs.stolen = neighbours.handling(1);
  return costs;
}

template <class Operation>
TransferCosts costs_of(HandledBy by, Word words, const Operation& operation) {
  Neighbours neighbours(words);
  if (by == HandledBy::software) return costs_of<SplitC>(neighbours, operation);
  neighbours.machine.add_hardware_handlers(neighbours.memories);
  return costs_of<HardwareTransfer>(neighbours, operation);
}

}  // namespace

TransferCosts get_costs(HandledBy by, Word words) {
  return costs_of(by, words, [words](auto& transfer, Processor& cpu) -> Program {
    if (words == 1)
      co_await transfer.get(cpu, {.node = 1, .offset = 0}, 0);
    else
      co_await transfer.bulk_get(cpu, {.node = 1, .offset = 0}, 0, words);
  });
}

TransferCosts put_costs(HandledBy by, Word words) {
  return costs_of(by, words, [words](auto& transfer, Processor& cpu) -> Program {
    co_await transfer.bulk_put(cpu, {.node = 1, .offset = 0}, 0, words);
  });
}

}  // namespace am::t1
