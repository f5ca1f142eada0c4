// What sends have in common in programs for the T1.
#pragma once

#include "emulated_hw/t1/processor.hpp"

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

}  // namespace am::t1
