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

  /// None unless the tag is set.
  [[nodiscard]] static std::optional<GuardedPointer> of(const Word& word) noexcept;

  [[nodiscard]] Word word() const noexcept { return {bits_, true}; }
  /// One of 16 codes, of which PointerType names eight.
  [[nodiscard]] PointerType type() const noexcept;
  [[nodiscard]] bool is(PointerType type) const noexcept { return this->type() == type; }
  [[nodiscard]] unsigned length() const noexcept;
  [[nodiscard]] std::uint64_t address() const noexcept;
  [[nodiscard]] std::uint64_t segment_begin() const noexcept;
  [[nodiscard]] std::uint64_t segment_addresses() const noexcept;

  friend bool operator==(const GuardedPointer&, const GuardedPointer&) = default;

 private:
  explicit GuardedPointer(std::uint64_t bits) noexcept : bits_(bits) {}
  std::uint64_t bits_;
};

/// The bits of a pointer; setptr makes them one. What does not fit a field is cut off, as its wires do.
[[nodiscard]] std::uint64_t pointer_bits(PointerType type, unsigned length, std::uint64_t address) noexcept;

/// The result of an instruction: a word, unless it raised an exception.
struct Outcome {
  Word word{};
  std::optional<Violation> violation{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Sets the tag: the system only.
[[nodiscard]] Outcome setptr(Privilege privilege, std::uint64_t bits) noexcept;
/// Address arithmetic: the pointer `offset` addresses further, an ErrVal where that is outside its segment. A user does it on every
/// type but Enter and ExecuteMessage.
[[nodiscard]] Outcome lea(Privilege privilege, const Word& pointer, std::int64_t offset) noexcept;

/// Whether it could be used for anything: a pointer of a type that there is, and no ErrVal.
[[nodiscard]] bool is_usable_pointer(const Word& word) noexcept;
// What uses a pointer asks first: none, if it may.
[[nodiscard]] std::optional<Violation> check_load(const Word& pointer) noexcept;
[[nodiscard]] std::optional<Violation> check_store(const Word& pointer) noexcept;

/// Where a thread goes on, and as whom.
struct Jumped {
  Word instruction_pointer{};
  Privilege privilege = Privilege::user;
  std::optional<Violation> violation{};

  friend bool operator==(const Jumped&, const Jumped&) = default;
};
[[nodiscard]] Jumped jump(Privilege privilege, const Word& pointer) noexcept;

/// A HandlerIP as it leaves with its message: ExecuteMessage has become executable. Others stay as they are (what may be sent at all:
/// send_instructions.hpp).
[[nodiscard]] Word injected(const Word& handler_ip) noexcept;

/// The fault that an ErrVal carries; none for any other word.
[[nodiscard]] std::optional<Fault> fault_of(const Word& word) noexcept;

/// What the extraction interface puts in place of a word whose parity is wrong: what was salvaged of the message's header, and how
/// many such faults the node has seen. The count has 8 bits and wraps around.
struct NetParityFault {
  std::uint8_t count = 0;
  std::uint8_t priority = 0;  ///< 0 or 1
  bool ordered = false;
  std::uint8_t argument_count = 0;  ///< 4 bits
  NodePlace sender{};               ///< 10 bits: y over x, as in the message's header (Figure 4-6)

  friend bool operator==(const NetParityFault&, const NetParityFault&) = default;
};
[[nodiscard]] Word errval_of(const NetParityFault& fault) noexcept;
/// What a read of MsgBody behind the tail gets.
[[nodiscard]] Word past_the_tail() noexcept;
/// None for what is no ErrVal of that kind.
[[nodiscard]] std::optional<NetParityFault> net_parity_fault_of(const Word& word) noexcept;

}  // namespace am::mmachine
