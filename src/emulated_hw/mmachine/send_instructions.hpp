// The M-Machine's sixteen SEND instructions: what each promises of its message, who may use it, and what it wants of its operands.
//
// Of Table 3.1 some cells are lost; what stands here follows from the text: isnd and fsnd differ in the register file alone (3.3);
// o is delivery in order; nt is not throttled by the counter of outgoing messages (3.3.2), and messages of priority 1 are sent by such ones
// only; p is physically addressed and privileged, and so is all but isnd0, isnd0o and their twins (3.3); only priority 0 is translated (4.2.2).
//
// What the thesis leaves open, and what is assumed here: any usable pointer may be a DestAddr, as what may be done there is checked
// at the destination; permission is looked at first, then DestAddr, then HandlerIP; a physical DestAddr is a node's
// number, so a pointer is of the wrong type there, and bits above the 10 of the number do not count; the system's HandlerIP may
// be ExecuteMessage, or what may be jumped to.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 3.3 with Table 3.1, 3.3.2, 4.2.1, 5.2.2,
// 5.2.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulated_hw/mmachine/guarded_pointer.hpp"
#include "emulated_hw/mmachine/word.hpp"

namespace am::mmachine {

/// By number: integer and floating-point twins side by side.
enum class Send : std::uint8_t {
  isnd0,
  fsnd0,
  isnd0o,
  fsnd0o,
  isnd0p,
  fsnd0p,
  isnd0po,
  fsnd0po,
  isnd0pnt,
  fsnd0pnt,
  isnd0pnto,
  fsnd0pnto,
  isnd1pnt,
  fsnd1pnt,
  isnd1pnto,
  fsnd1pnto
};

struct SendInstruction {
  std::string_view name;
  bool is_floating;       ///< the message's body lies in the floating-point registers
  bool is_ordered;        ///< delivered in the order of sending, among those of its kind
  bool is_throttled;      ///< waits while no bounce buffer is free, and takes one
  std::uint8_t priority;  ///< 0 or 1
  bool is_physical;       ///< DestAddr is a node, not a pointer; for the system only
};

/// Table 3.1, by Send.
inline constexpr std::array send_instructions = {
    SendInstruction{"isnd0", false, false, true, 0, false},
    SendInstruction{"fsnd0", true, false, true, 0, false},
    SendInstruction{"isnd0o", false, true, true, 0, false},
    SendInstruction{"fsnd0o", true, true, true, 0, false},
    SendInstruction{"isnd0p", false, false, true, 0, true},
    SendInstruction{"fsnd0p", true, false, true, 0, true},
    SendInstruction{"isnd0po", false, true, true, 0, true},
    SendInstruction{"fsnd0po", true, true, true, 0, true},
    SendInstruction{"isnd0pnt", false, false, false, 0, true},
    SendInstruction{"fsnd0pnt", true, false, false, 0, true},
    SendInstruction{"isnd0pnto", false, true, false, 0, true},
    SendInstruction{"fsnd0pnto", true, true, false, 0, true},
    SendInstruction{"isnd1pnt", false, false, false, 1, true},
    SendInstruction{"fsnd1pnt", true, false, false, 1, true},
    SendInstruction{"isnd1pnto", false, true, false, 1, true},
    SendInstruction{"fsnd1pnto", true, true, false, 1, true},
};

[[nodiscard]] constexpr const SendInstruction& send_instruction(Send send) noexcept {
  return send_instructions[static_cast<std::size_t>(send)];
}

/// Only what is virtually addressed: so a user's message goes where the system has mapped memory for him.
[[nodiscard]] constexpr bool may_use(Privilege privilege, const SendInstruction& send) noexcept {
  return privilege == Privilege::system || !send.is_physical;
}

/// Why a SEND is aborted, with nothing sent.
enum class SendException : std::uint8_t {
  permission_violation,  ///< a user's privileged instruction
  bad_destination,       ///< DestAddr is not what the instruction takes: a type exception
  bad_handler            ///< HandlerIP is none that this thread may name
};

/// What an instruction sends.
struct Sent {
  Send instruction{};
  Word destination{};
  Word handler{};
  unsigned argcount = 0;  ///< words of the registers, integer or floating-point ones, as the instruction says
  /// Empty from when it issues until these words have been fetched (here at once, unless it misses).
  unsigned condition = 0;
  /// Of a physical one: where to, if `destination` is not to say so but to travel as it is.
  std::optional<NodePlace> node{};

  [[nodiscard]] constexpr const SendInstruction& what() const noexcept {
    return send_instruction(instruction);
  }
};

/// Printed: a null message takes five cycles of its program (chapter 1, 7.2.2, 8.3).
inline constexpr unsigned send_cycles = 5;
/// Of these SEND asks for its output unit and is granted it (4.2.1) in two, and issues in one: calibrated on MM, PING of Table 6.4. So the other
/// two make DestAddr and HandlerIP, for a program that has none yet: assumed.
inline constexpr unsigned send_request_cycles = 2;

inline bool is_destination(const SendInstruction& send, const Word& word) noexcept {
  return send.is_physical ? !word.is_pointer : !check_use(word);
}

/// What a user names is certified to be safe: ExecuteMessage, which only the system makes.
inline bool is_handler(Privilege privilege, const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (pointer && pointer->is(PointerType::execute_message)) return true;
  return privilege == Privilege::system && !jump(privilege, word).violation;
}

/// None: it is sent, if resources and the GTLB allow.
[[nodiscard]] inline std::optional<SendException> check_send(const SendInstruction& send, Privilege privilege,
                                                             const Word& destination,
                                                             const Word& handler_ip) noexcept {
  if (!may_use(privilege, send)) return SendException::permission_violation;
  if (!is_destination(send, destination)) return SendException::bad_destination;
  if (!is_handler(privilege, handler_ip)) return SendException::bad_handler;
  return {};
}

}  // namespace am::mmachine
