// Split-C's gets and bulk transfers, by handlers in hardware (hardware_handlers.hpp): the node whose memory it is runs none for what is
// fetched, and one for each block that is stored. What the same cost by software: split_c.hpp.
//
//   machine.add_hardware_handlers(memories);
//   HardwareTransfer transfer(machine, memories);
//
// "A sequence of messages using a hard-wired handler would likely be followed by a message using a software handler, which would increment
// the correct counter or return an acknowledgement message to indicate the completion of the transfer" (T1 report, 3.9): here that message
// has the last piece of what is fetched, the last word of what is stored. Messages between two nodes come in order (3.3), and so do
// answers of an interface.
#pragma once

#include "emulated_hw/t1/programs/split_c.hpp"

namespace am::t1 {

/// Of a machine that has handlers in hardware. Puts of a word, and fetch_and_add, are Split-C's.
class HardwareTransfer : public SplitC {
 public:
  using SplitC::SplitC;

  Program get(Processor& cpu, GlobalPtr from, Word local) { return fetch(cpu, from, local, 1); }
  /// But for the last, answers are stored by this node's interface.
  Program bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words);
  Program bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words);

 private:
  /// Up to a vector, for a handler here.
  Program fetch(Processor& cpu, GlobalPtr from, Word local, Word words);
};

}  // namespace am::t1
