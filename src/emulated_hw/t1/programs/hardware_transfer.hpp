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

#include <algorithm>

#include "emulated_hw/t1/programs/split_c.hpp"

namespace am::t1 {

/// Of a machine that has handlers in hardware. Puts of a word, and fetch_and_add, are Split-C's.
class HardwareTransfer : public SplitC {
 public:
  using SplitC::SplitC;

  Program get(Processor& cpu, GlobalPtr from, Word local) { return fetch(cpu, from, local, 1); }
  /// But for the last, answers are stored by this node's interface.
  Program bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words) {
    if (words == 0) co_return;
    const Word last = (words - 1) % most_vector + 1;
    for (Word done = 0; done < words - last; done += most_vector) {
      cpu.registers().data = {node_of(cpu), hardware::store, address_of(from.offset + done), most_vector,
                              address_of(local + done)};
      co_await cpu.cycles(5 * costs::move);
      co_await send_until_accepted(cpu, {.scalars = 5}, from.node, hardware::fetch);
      co_await cpu.cycles(2 * costs::add + costs::branch);  // both addresses, the loop
    }
    co_await fetch(cpu, {.node = from.node, .offset = from.offset + words - last}, local + words - last,
                   last);
  }
  Program bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words) {
    if (words == 0) co_return;
    for (Word done = 0; done < words - 1;) {
      const Word some = std::min(words - 1 - done, most_vector);
      RegisterSet& registers = cpu.registers();
      registers.data[0] = address_of(to.offset + done);
      std::ranges::copy(memories().block(node_of(cpu), local + done, some), registers.vr1.begin());
      co_await cpu.cycles(2 * costs::move + costs::vector(some));  // vlr, too
      co_await send_until_accepted(cpu, {.scalars = 1, .vector = true}, to.node, hardware::store, some);
      co_await cpu.cycles(2 * costs::add + costs::branch);
      done += some;
    }
    co_await put(cpu, {.node = to.node, .offset = to.offset + words - 1},
                 memories().at(node_of(cpu), local + words - 1));
  }

 private:
  /// Pointers of programs are addresses: this is no instruction.
  static constexpr Address address_of(Word offset) noexcept { return offset * bytes_per_word; }
  /// Up to a vector, for a handler here.
  Program fetch(Processor& cpu, GlobalPtr from, Word local, Word words) {
    cpu.registers().data = {node_of(cpu), words == 1 ? got_at : bulk_got_at, address_of(from.offset), words,
                            local};
    co_await cpu.cycles(5 * costs::move + costs::add);
    asks(cpu);
    co_await send_until_accepted(cpu, {.scalars = 5}, from.node, hardware::fetch);
  }
};

}  // namespace am::t1
