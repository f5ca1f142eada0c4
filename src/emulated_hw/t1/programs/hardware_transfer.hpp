// Split-C's gets and bulk transfers, by handlers in hardware (hardware_handlers.hpp): the node whose memory it is runs none for what is
// fetched, and one for each block that is stored. What the same cost by software: split_c.hpp.
//
//   machine.add_hardware_handlers(memories);
//   HardwareTransfer transfer(machine, memories);
//   machine.node(0).run([&](Processor& cpu) -> Program {
//     co_await transfer.bulk_get(cpu, {.node = 3, .offset = 0}, 512, 1000);
//     co_await cpu.cycles(3000);
//     co_await transfer.sync(cpu);
//   });
//
// "A sequence of messages using a hard-wired handler would likely be followed by a message using a software handler, which would increment
// the correct counter or return an acknowledgement message to indicate the completion of the transfer" (T1 report, 3.9): here that message
// has the last piece of what is fetched, the last word of what is stored. Messages between two nodes come in order (3.3), and so do
// answers of an interface.
//
// The code is at 0x9000 to 0x9fff of each node. Routines are for computations, of a node each.
#pragma once

#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"

namespace am::t1 {

class HardwareTransfer {
 public:
  /// Places the handlers, of a machine that has some in hardware. Both outlive it, and it outlives what the machine runs.
  HardwareTransfer(Machine& machine, Memories& memories);
  HardwareTransfer(const HardwareTransfer&) = delete;
  HardwareTransfer& operator=(const HardwareTransfer&) = delete;

  /// *local := *from, of this node's memory.
  Program get(Processor& cpu, GlobalPtr from, Word local);
  /// The same for blocks: but for the last, answers are stored by this node's interface.
  Program bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words);
  Program bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words);
  /// Until all of these are complete.
  Program sync(Processor& cpu);

 private:
  /// What the handler, here, counts as complete.
  Program fetch(Processor& cpu, GlobalPtr from, Word local, Word words, Address handler);
  Program handle_got(Processor& cpu);
  Program handle_last_piece(Processor& cpu);
  Program handle_last_word(Processor& cpu);
  Program handle_done(Processor& cpu);

  Memories& memories_;
  std::vector<Word> pending_;  // by node, in a register that handlers and computation share
};

}  // namespace am::t1
