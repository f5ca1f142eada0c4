// What the parts of the simulated message interfaces cost: one set for all models, programs and entries of Table 6.4.
//
// Each says where it is from: printed in the thesis; assumed, where it prints nothing and the listing in 3.2.3 or the text suggests
// it; or calibrated on one entry of Table 6.4, which then is no prediction.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), chapters 3, 4 and 6.
#pragma once

#include "emulated_hw/mmachine/costs/instruction.hpp"

namespace am::mmachine::costs {

// The cluster.

/// Printed: "a jump delay (3 cycles)", 3.2.
inline constexpr Cycle jump_cycles = 3;
/// Printed: the consumer of a remote write takes another 3 cycles to read, 3.1.
inline constexpr Cycle load_cycles = 3;
/// Printed: write and read of local memory take 6 together, 3.1.
inline constexpr Cycle store_cycles = 3;

// The M-Machine's own interface.

/// Printed: five cycles for a null message, chapter 1 and 8.3; then a word a cycle.
inline constexpr Cycle send_cycles = 5;
/// Assumed: of these are for GTLB and header; two read DestAddr and HandlerIP (4.2.2).
inline constexpr Cycle header_cycles = 3;
/// Calibrated on MM, PING: netout, router and netin without a link.
inline constexpr Cycle path_cycles = 9;

// Memory-mapped interfaces.

/// Calibrated on IMS, PING; printed: 10 to 30 in pipelined systems, 6.5.1.
inline constexpr Cycle hierarchy_cycles = 11;

// Buffered extraction into network registers.

/// Calibrated on ERB, PING: from the tail's arrival to a head that can be read.
inline constexpr Cycle hand_over_cycles = 5;

// Software in place of the GTLB.

/// Printed, 6.4.
inline constexpr Cycle missed_entry_cycles = 16;
/// Printed, 6.4.
inline constexpr std::uint64_t missed_entry_slots = 22;
/// Assumed: address, tag, mask, mapping, a scratch register.
inline constexpr unsigned lookup_registers = 5;
/// Printed, 3.1.1.
inline constexpr unsigned integer_registers = 14;
/// Calibrated on SWX, RPC: what a program holds beside its message, pointers and counters.
inline constexpr unsigned held_registers = 5;

// Dispatch.

/// Printed, 6.1: what a polling program spills.
inline constexpr unsigned polling_registers = 6;
/// Printed, 6.5.4: what an interrupt spills.
inline constexpr unsigned interrupt_registers = 32;
/// Printed, 6.4: by which a message that barely misses a poll is late.
inline constexpr Cycle missed_poll_cycles = 121;

// The programs (6.2).

/// Printed: eight arguments and the instruction pointer.
inline constexpr unsigned rpc_words = 9;
/// Printed.
inline constexpr unsigned dist_messages = 8;
/// Printed: arguments that differ from message to message.
inline constexpr unsigned dist_seeds = 4;
/// Calibrated on MM, DIST: to regenerate one.
inline constexpr unsigned operations_per_seed = 3;
/// Printed.
inline constexpr unsigned block_words = 1024;
/// Printed: 103 messages, 6.5.4.
inline constexpr unsigned words_per_packet = 10;

}  // namespace am::mmachine::costs
