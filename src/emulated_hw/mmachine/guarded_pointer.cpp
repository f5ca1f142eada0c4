#include "emulated_hw/mmachine/guarded_pointer.hpp"

#include <algorithm>

#include "emulated_hw/mmachine/bits.hpp"

namespace am::mmachine {

namespace {

using enum PointerType;
using enum Violation;

constexpr unsigned length_at = GuardedPointer::address_bits;
constexpr unsigned type_at = length_at + GuardedPointer::length_bits;

constexpr std::uint8_t byte_at(std::uint64_t value, unsigned bit, unsigned bits) noexcept {
  return static_cast<std::uint8_t>(low(value >> bit, bits));
}

Word retyped(const GuardedPointer& pointer, PointerType type) noexcept {
  return {pointer_bits(type, pointer.length(), pointer.address()), true};
}
Word errval_word(Fault fault, std::uint64_t about) noexcept {
  return {pointer_bits(errval, static_cast<unsigned>(fault), about), true};
}

bool is_known(PointerType type) noexcept { return static_cast<unsigned>(type) < pointer_types; }
bool user_may_move(PointerType type) noexcept {
  return type != enter_user && type != enter_system && type != execute_message;
}

/// Why a word is no pointer that could be used for anything.
std::optional<Violation> unusable(const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (!pointer) return not_a_pointer;
  if (pointer->is(errval)) return error_value;
  if (!is_known(pointer->type())) return wrong_type;
  return {};
}

Jumped stopped(Violation why) noexcept { return {.violation = why}; }

// Of the fields of a net parity fault, from the lowest bit on (4.3.1).
constexpr unsigned arguments_at = 2 * place_bits;
constexpr unsigned argument_bits = 4;
constexpr unsigned ordered_at = arguments_at + argument_bits;
constexpr unsigned priority_at = ordered_at + 1;
constexpr unsigned count_at = priority_at + 1;
constexpr unsigned count_bits = 8;

}  // namespace

std::optional<GuardedPointer> GuardedPointer::of(const Word& word) noexcept {
  if (!word.is_pointer) return {};
  return GuardedPointer(word.bits);
}

PointerType GuardedPointer::type() const noexcept {
  return static_cast<PointerType>(byte_at(bits_, type_at, type_bits));
}
unsigned GuardedPointer::length() const noexcept { return byte_at(bits_, length_at, length_bits); }
std::uint64_t GuardedPointer::address() const noexcept { return low(bits_, address_bits); }

std::uint64_t GuardedPointer::segment_addresses() const noexcept {
  return std::uint64_t{1} << std::min(length() + least_log_addresses, address_bits);
}
std::uint64_t GuardedPointer::segment_begin() const noexcept {
  return address() & ~(segment_addresses() - 1);
}

std::uint64_t pointer_bits(PointerType type, unsigned length, std::uint64_t address) noexcept {
  return low(static_cast<std::uint64_t>(type), GuardedPointer::type_bits) << type_at |
         low(length, GuardedPointer::length_bits) << length_at | low(address, GuardedPointer::address_bits);
}

Outcome setptr(Privilege by, std::uint64_t bits) noexcept {
  if (by != Privilege::system) return {.violation = privilege};
  return {.word = {bits, true}};
}

/// Place and offset together stay below 2^64, so what wraps around is outside every segment, too.
Outcome lea(Privilege by, const Word& word, std::int64_t offset) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (!pointer) return {.violation = not_a_pointer};
  if (pointer->is(errval)) return {.word = word};
  if (!is_known(pointer->type())) return {.violation = wrong_type};
  if (by == Privilege::user && !user_may_move(pointer->type())) return {.violation = wrong_type};
  const std::uint64_t begin = pointer->segment_begin();
  const std::uint64_t place = pointer->address() - begin + static_cast<std::uint64_t>(offset);
  if (place >= pointer->segment_addresses())
    return {.word = errval_word(Fault::out_of_segment, begin + place)};
  return {.word = {pointer_bits(pointer->type(), pointer->length(), begin + place), true}};
}

bool is_usable_pointer(const Word& word) noexcept { return !unusable(word); }

std::optional<Violation> check_load(const Word& word) noexcept {
  if (const auto why = unusable(word)) return why;
  const PointerType type = GuardedPointer::of(word)->type();
  if (type == read_only || type == read_write) return {};
  return wrong_type;
}

std::optional<Violation> check_store(const Word& word) noexcept {
  if (const auto why = unusable(word)) return why;
  if (GuardedPointer::of(word)->is(read_write)) return {};
  return wrong_type;
}

Jumped jump(Privilege by, const Word& word) noexcept {
  if (const auto why = unusable(word)) return stopped(*why);
  const auto pointer = GuardedPointer::of(word);
  switch (pointer->type()) {
    case execute_user:
      return {word, Privilege::user, {}};
    case execute_system:
      return by == Privilege::system ? Jumped{word, Privilege::system, {}} : stopped(privilege);
    case enter_user:
      return {retyped(*pointer, execute_user), Privilege::user, {}};
    case enter_system:
      return {retyped(*pointer, execute_system), Privilege::system, {}};
    case errval:
    case read_only:
    case read_write:
    case execute_message:
      break;
  }
  return stopped(wrong_type);
}

Word injected(const Word& handler_ip) noexcept {
  const auto pointer = GuardedPointer::of(handler_ip);
  return pointer && pointer->is(execute_message) ? retyped(*pointer, execute_system) : handler_ip;
}

std::optional<Fault> fault_of(const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (!pointer || !pointer->is(errval)) return {};
  for (const Fault fault : {Fault::out_of_segment, Fault::net_parity, Fault::past_tail}) {
    if (pointer->length() == static_cast<unsigned>(fault)) return fault;
  }
  return {};
}

Word errval_of(const NetParityFault& fault) noexcept {
  const std::uint64_t sender =
      low(fault.sender.y, place_bits) << place_bits | low(fault.sender.x, place_bits);
  const std::uint64_t ordered = fault.ordered ? 1 : 0;
  return errval_word(Fault::net_parity, sender | low(fault.argument_count, argument_bits) << arguments_at |
                                            ordered << ordered_at | low(fault.priority, 1) << priority_at |
                                            std::uint64_t{fault.count} << count_at);
}

Word past_the_tail() noexcept { return errval_word(Fault::past_tail, 0); }

std::optional<NetParityFault> net_parity_fault_of(const Word& word) noexcept {
  if (fault_of(word) != Fault::net_parity) return {};
  const std::uint64_t fields = word.bits;
  return NetParityFault{.count = byte_at(fields, count_at, count_bits),
                        .priority = byte_at(fields, priority_at, 1),
                        .ordered = byte_at(fields, ordered_at, 1) != 0,
                        .argument_count = byte_at(fields, arguments_at, argument_bits),
                        .sender = {byte_at(fields, 0, place_bits), byte_at(fields, place_bits, place_bits)}};
}

}  // namespace am::mmachine
