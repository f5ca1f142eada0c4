// What programs for the T1 have in common: how they send, and what handlers do with a vector that has come.
#pragma once

#include <algorithm>

#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/processor.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"

namespace am::t1 {

/// `rd` of a send to this node.
[[nodiscard]] inline std::uint32_t node_of(Processor& cpu) { return cpu.ni().cfc2(Register::niid); }

/// SEND until the network accepts it, from the registers and $vr1 that are visible: "an immediate send retry is trivial since the message
/// data is still there" (T1 report, 3.3). For computations, and for replies of request handlers; a reply's handler may not loop (3.5).
inline Program send_until_accepted(Processor& cpu, Send what, std::uint32_t destination, Address handler,
                                   unsigned vlr = most_vector) {
  for (bool accepted = false; !accepted;)
    accepted = co_await cpu.send(what, destination, handler, cpu.registers().vr1, vlr);
}

/// Multicasts to the first `columns` nodes of a row, from that in column 0, which gets none: in one direction, or both ways round.
inline Program multicast_along_row(Processor& cpu, const Shape& shape, unsigned columns, Send what,
                                   Address handler) {
  what.multicast = true;
  const NodeNumber first = node_of(cpu);
  // Column 0 goes up where both ways are as long (kit/dimension_order.hpp).
  const unsigned up = shape.wraps ? std::min(columns - 1, shape.columns / 2) : columns - 1;
  if (up > 0) co_await send_until_accepted(cpu, what, first + up, handler);
  if (up < columns - 1) co_await send_until_accepted(cpu, what, first + up + 1, handler);
}

/// The vector of a message into its node's memory, in one access with what else the handler does in so many cycles.
inline Program store_vector(Processor& cpu, Memories& memories, Word offset, unsigned more_cycles = 0) {
  const Word words = nistat::vlen(co_await cpu.cfc2(Register::nistat));
  co_await cpu.cycles(costs::move + costs::vector(words) + more_cycles);  // vlr
  std::ranges::copy_n(cpu.registers().vr1.begin(), words,
                      memories.block(node_of(cpu), offset, words).begin());
}

}  // namespace am::t1
