// What the parts of the simulated message interfaces cost: one set for all models, programs and entries of Table 6.4.
//
// Each says where it is from: printed in the thesis; assumed, where it prints nothing and the listing in 3.2.3 or the text suggests
// it; or calibrated on one entry of Table 6.4, which then is no prediction.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), chapters 3, 4 and 6.
#pragma once

#include <cstdint>

#include "emulated_hw/mmachine/instruction_stream.hpp"
#include "emulated_hw/mmachine/send_instructions.hpp"

namespace amsim::chapter_6 {

using namespace am::mmachine;

// The M-Machine's own interface, as on the machine.
inline constexpr Cycle latency_cycles = 11;  ///< printed, 7.2.2: from SEND's issue to MsgHead, to a neighbour
inline constexpr Cycle header_cycles = 3;  ///< assumed: of send_cycles, behind DestAddr and HandlerIP (4.2.2)
/// Follows, when send_cycles are counted from where SEND asks for its unit: netout, router, netin.
inline constexpr Cycle path_cycles = send_request_cycles + 1 + latency_cycles - send_cycles;

// Memory-mapped interfaces.
inline constexpr Cycle hierarchy_cycles = 11;  ///< calibrated on IMS, PING; printed: 10 to 30, 6.5.1

// Buffered extraction into network registers.
inline constexpr Cycle hand_over_cycles = 5;  ///< calibrated on ERB, PING: from the tail to a readable head

// Software in place of the GTLB.
inline constexpr Cycle missed_entry_cycles = 16;         ///< printed, 6.4
inline constexpr std::uint64_t missed_entry_slots = 22;  ///< printed, 6.4
inline constexpr unsigned lookup_registers = 5;          ///< assumed: address, tag, mask, mapping, scratch
inline constexpr unsigned integer_registers = 14;        ///< printed, 3.1.1
inline constexpr unsigned held_registers = 5;  ///< calibrated on SWX, RPC: beside those of the message

// Dispatch.
inline constexpr unsigned polling_registers = 6;     ///< printed, 6.1: what a polling program spills
inline constexpr unsigned interrupt_registers = 32;  ///< printed, 6.5.4: what an interrupt spills
inline constexpr Cycle missed_poll_cycles = 121;     ///< printed, 6.4: what barely missing a poll costs

// The programs (6.2).
inline constexpr unsigned rpc_words = 9;      ///< printed: eight arguments and the instruction pointer
inline constexpr unsigned dist_messages = 8;  ///< printed
inline constexpr unsigned dist_seeds = 4;     ///< printed: arguments that differ from message to message
inline constexpr unsigned operations_per_seed = 3;  ///< calibrated on MM, DIST: to regenerate one
inline constexpr unsigned block_words = 1024;       ///< printed
inline constexpr unsigned words_per_packet = 10;    ///< printed: 103 messages, 6.5.4

}  // namespace amsim::chapter_6
