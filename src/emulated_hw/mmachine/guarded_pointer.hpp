// Guarded pointers, the M-Machine's capabilities: a word with the pointer tag says where its segment lies, how long it is, and what
// may be done there, so no table is asked. What carries one about needs no trust: a user moves it within its segment, and no further.
//
//   bit 64 the tag | 63-60 type | 59-54 length L | 53-0 address
//
// What an instruction does with one is a function here, which gives its result or the exception that it raises. A GuardedPointer itself
// comes only from a word whose tag is set, and no function sets a tag but setptr, which is privileged, and what moves or mutates
// a pointer that was there.
//
// What the thesis leaves open, and what is assumed here:
//  - The codes of types, and of faults in an ErrVal; a code without a type permits nothing.
//  - The segment: "up to 2^(6+11) words", aligned to pages of 2^11. Here it has 2^(L+11) addresses, from a multiple of that on; 43 or more
//    for L is the whole address space.
//  - The unit of an address. A page has 2^11 bytes in 3.3.1, and 2^11 words in 5.2.1. Here, as in gtlb.hpp, it has 2^11 addresses,
//    whatever one counts: both agree on which bits name the page.
//  - Arithmetic on an ErrVal gives it again, so that a program meets the first fault where it uses the result. Out of the segment, an
//    ErrVal carries the address that it would have been.
//  - Only data types are loaded from, and only ReadWrite is stored to: code is not read.
//  - An Execute pointer says with which privilege its code runs. A user does not jump to ExecuteSystem; the system may jump to
//    ExecuteUser, and is a user from there on. A jump through an Enter type makes it the Execute type of its privilege.
//  - ExecuteMessage becomes ExecuteSystem when it is injected: the slot that it runs in is privileged, and what 5.2.3 asks of a handler
//    that is to be trusted, no setptr, would be asked in vain of a user's. (It also has to send replies, which only the system may.)
//  - The system does arithmetic on the types on which a user may not.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.1, Figure 5-4, 5.2.3; the ErrVal of a net
// parity fault: 4.3.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "emulated_hw/mmachine/gtlb.hpp"
#include "emulated_hw/mmachine/word.hpp"

namespace am::mmachine {

enum class PointerType : std::uint8_t {
  errval = 0,
  read_only = 1,
  read_write = 2,
  execute_user = 3,
  execute_system = 4,
  enter_user = 5,
  enter_system = 6,
  execute_message = 7
};
inline constexpr unsigned pointer_types = 8;

enum class Privilege : std::uint8_t { user, system };

/// The exception that an instruction raises.
enum class Violation : std::uint8_t {
  not_a_pointer,  ///< the tag is not set
  error_value,    ///< the pointer is an ErrVal
  wrong_type,     ///< its type does not permit this
  privilege       ///< only the system may
};

/// What an ErrVal tells, in its length field.
enum class Fault : std::uint8_t { out_of_segment = 1, net_parity = 2, past_tail = 3 };

class GuardedPointer {
 public:
  static constexpr unsigned address_bits = 54;
  static constexpr unsigned length_bits = 6;
  static constexpr unsigned type_bits = 4;
  static constexpr unsigned least_log_addresses = 11;  ///< of a segment
  static constexpr unsigned length_at = address_bits;
  static constexpr unsigned type_at = length_at + length_bits;

  /// None unless the tag is set.
  [[nodiscard]] static constexpr std::optional<GuardedPointer> of(const Word& word) noexcept {
    if (!word.is_pointer) return {};
    return GuardedPointer(word.bits);
  }

  [[nodiscard]] constexpr Word word() const noexcept { return {bits_, true}; }
  /// One of 16 codes, of which PointerType names eight.
  [[nodiscard]] constexpr PointerType type() const noexcept {
    return static_cast<PointerType>(field(bits_, type_at, type_bits));
  }
  [[nodiscard]] constexpr bool is(PointerType type) const noexcept { return this->type() == type; }
  [[nodiscard]] constexpr bool is_known() const noexcept {
    return static_cast<unsigned>(type()) < pointer_types;
  }
  [[nodiscard]] constexpr unsigned length() const noexcept { return field(bits_, length_at, length_bits); }
  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return low(bits_, address_bits); }
  [[nodiscard]] constexpr std::uint64_t segment_begin() const noexcept {
    return address() & ~(segment_addresses() - 1);
  }
  [[nodiscard]] constexpr std::uint64_t segment_addresses() const noexcept {
    return std::uint64_t{1} << std::min(length() + least_log_addresses, address_bits);
  }

  friend bool operator==(const GuardedPointer&, const GuardedPointer&) = default;

 private:
  explicit constexpr GuardedPointer(std::uint64_t bits) noexcept : bits_(bits) {}
  std::uint64_t bits_;
};

/// The bits of a pointer; setptr makes them one. What does not fit a field is cut off, as its wires do.
[[nodiscard]] constexpr std::uint64_t pointer_bits(PointerType type, unsigned length,
                                                   std::uint64_t address) noexcept {
  return low(static_cast<std::uint64_t>(type), GuardedPointer::type_bits) << GuardedPointer::type_at |
         low(length, GuardedPointer::length_bits) << GuardedPointer::length_at |
         low(address, GuardedPointer::address_bits);
}
[[nodiscard]] constexpr Word retyped(const GuardedPointer& pointer, PointerType type) noexcept {
  return {pointer_bits(type, pointer.length(), pointer.address()), true};
}
[[nodiscard]] constexpr Word errval_word(Fault fault, std::uint64_t about) noexcept {
  return {pointer_bits(PointerType::errval, static_cast<unsigned>(fault), about), true};
}

/// The result of an instruction: a word, unless it raised an exception.
struct Outcome {
  Word word{};
  std::optional<Violation> violation{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Sets the tag: the system only.
[[nodiscard]] constexpr Outcome setptr(Privilege by, std::uint64_t bits) noexcept {
  if (by != Privilege::system) return {.violation = Violation::privilege};
  return {.word = {bits, true}};
}

/// Address arithmetic: the pointer `offset` addresses further, an ErrVal where that is outside its segment. A user does it on every
/// type but Enter and ExecuteMessage. Place and offset together stay below 2^64, so what wraps around is outside every segment, too.
[[nodiscard]] constexpr Outcome lea(Privilege by, const Word& word, std::int64_t offset) noexcept {
  using enum PointerType;
  const auto pointer = GuardedPointer::of(word);
  if (!pointer) return {.violation = Violation::not_a_pointer};
  if (pointer->is(errval)) return {.word = word};
  const bool is_for_system =
      pointer->is(enter_user) || pointer->is(enter_system) || pointer->is(execute_message);
  if (!pointer->is_known() || (by == Privilege::user && is_for_system))
    return {.violation = Violation::wrong_type};
  const std::uint64_t begin = pointer->segment_begin();
  const std::uint64_t place = pointer->address() - begin + static_cast<std::uint64_t>(offset);
  if (place >= pointer->segment_addresses())
    return {.word = errval_word(Fault::out_of_segment, begin + place)};
  return {.word = {pointer_bits(pointer->type(), pointer->length(), begin + place), true}};
}

// What uses a pointer asks first: none, if it may.

/// For anything at all.
[[nodiscard]] constexpr std::optional<Violation> check_use(const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (!pointer) return Violation::not_a_pointer;
  if (pointer->is(PointerType::errval)) return Violation::error_value;
  if (!pointer->is_known()) return Violation::wrong_type;
  return {};
}
[[nodiscard]] constexpr std::optional<Violation> check_store(const Word& word) noexcept {
  if (const auto why = check_use(word)) return why;
  if (GuardedPointer::of(word)->is(PointerType::read_write)) return {};
  return Violation::wrong_type;
}
[[nodiscard]] constexpr std::optional<Violation> check_load(const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  return pointer && pointer->is(PointerType::read_only) ? std::nullopt : check_store(word);
}

/// Where a thread goes on, and as whom.
struct Jumped {
  Word instruction_pointer{};
  Privilege privilege = Privilege::user;
  std::optional<Violation> violation{};

  friend bool operator==(const Jumped&, const Jumped&) = default;
};
[[nodiscard]] constexpr Jumped jump(Privilege by, const Word& word) noexcept {
  using enum PointerType;
  if (const auto why = check_use(word)) return {.violation = why};
  const auto pointer = GuardedPointer::of(word);
  switch (pointer->type()) {
    case execute_user:
      return {word, Privilege::user, {}};
    case execute_system:
      if (by != Privilege::system) return {.violation = Violation::privilege};
      return {word, Privilege::system, {}};
    case enter_user:
      return {retyped(*pointer, execute_user), Privilege::user, {}};
    case enter_system:
      return {retyped(*pointer, execute_system), Privilege::system, {}};
    default:
      return {.violation = Violation::wrong_type};
  }
}

/// A HandlerIP as it leaves with its message: ExecuteMessage has become executable. Others stay as they are (what may be sent at all:
/// send_instructions.hpp).
[[nodiscard]] constexpr Word injected(const Word& handler_ip) noexcept {
  const auto pointer = GuardedPointer::of(handler_ip);
  const bool is_for_messages = pointer && pointer->is(PointerType::execute_message);
  return is_for_messages ? retyped(*pointer, PointerType::execute_system) : handler_ip;
}

/// The fault that an ErrVal carries; none for any other word.
[[nodiscard]] constexpr std::optional<Fault> fault_of(const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (!pointer || !pointer->is(PointerType::errval)) return {};
  for (const Fault fault : {Fault::out_of_segment, Fault::net_parity, Fault::past_tail}) {
    if (pointer->length() == static_cast<unsigned>(fault)) return fault;
  }
  return {};
}
/// What a read of MsgBody behind the tail gets.
[[nodiscard]] constexpr Word past_the_tail() noexcept { return errval_word(Fault::past_tail, 0); }

/// What the extraction interface puts in place of a word whose parity is wrong: what was salvaged of the message's header, and how
/// many such faults the node has seen (4.3.1). The count has 8 bits and wraps around.
///
///   bits 23-16 the count | 15 priority | 14 ordered | 13-10 arguments | 9-0 sender: y over x, as in the message's header (Figure 4-6)
struct NetParityFault {
  std::uint8_t count = 0;
  std::uint8_t priority = 0;
  bool ordered = false;
  std::uint8_t argument_count = 0;
  NodePlace sender{};

  friend bool operator==(const NetParityFault&, const NetParityFault&) = default;
};
[[nodiscard]] constexpr Word errval_of(const NetParityFault& fault) noexcept {
  return errval_word(Fault::net_parity, std::uint64_t{fault.count} << 16 | low(fault.priority, 1) << 15 |
                                            std::uint64_t{fault.ordered} << 14 |
                                            low(fault.argument_count, 4) << 10 | nid_of(fault.sender));
}
/// None for what is no ErrVal of that kind.
[[nodiscard]] constexpr std::optional<NetParityFault> net_parity_fault_of(const Word& word) noexcept {
  if (fault_of(word) != Fault::net_parity) return {};
  return NetParityFault{.count = field(word.bits, 16, 8),
                        .priority = field(word.bits, 15, 1),
                        .ordered = field(word.bits, 14, 1) != 0,
                        .argument_count = field(word.bits, 10, 4),
                        .sender = place_of(word.bits)};
}

}  // namespace am::mmachine
