// Which of a network's own operations an op of am/collectives.hpp is: one of the standard library's, on integers of 32 or 64 bits.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace am::impl {

enum class KnownOperation : std::uint8_t { none, sum, maximum, minimum, bit_and, bit_or, bit_xor };

/// What a reduction does to words, if a network may do it.
struct WordOperation {
  KnownOperation operation = KnownOperation::none;
  bool is_signed = false;  ///< a maximum or minimum, for which it matters
  friend constexpr bool operator==(const WordOperation&, const WordOperation&) = default;
};

/// An op of another type says what it is by a static member `known_operation`.
template <class T, class Op>
consteval KnownOperation known_operation() {
  const auto is = [](auto... standard) { return (std::same_as<Op, decltype(standard)> || ...); };
  using enum KnownOperation;
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool> || (sizeof(T) != 4 && sizeof(T) != 8)) {
    return none;
  } else if constexpr (requires { KnownOperation{Op::known_operation}; }) {
    return Op::known_operation;
  } else {
    if (is(std::plus<>(), std::plus<T>())) return sum;
    if (is(std::bit_and<>(), std::bit_and<T>())) return bit_and;
    if (is(std::bit_or<>(), std::bit_or<T>())) return bit_or;
    if (is(std::bit_xor<>(), std::bit_xor<T>())) return bit_xor;
    if (is(std::ranges::max)) return maximum;
    if (is(std::ranges::min)) return minimum;
    return none;
  }
}
/// The same, of signed or unsigned values.
template <class T, class Op>
consteval WordOperation word_operation() {
  constexpr KnownOperation its = known_operation<T, Op>();
  const bool compares = its == KnownOperation::maximum || its == KnownOperation::minimum;
  return {its, compares && std::is_signed_v<T>};
}

}  // namespace am::impl
