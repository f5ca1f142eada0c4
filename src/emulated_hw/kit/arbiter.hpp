// Arbiters: who of several requesters is next. Requesters are the bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace am::kit {

/// Up to 64 requesters at a word's bits.
using Requests = std::uint64_t;

constexpr Requests request(unsigned who) noexcept { return Requests{1} << who; }

constexpr bool has(Requests requests, unsigned who) noexcept { return (requests >> who & 1) != 0; }

/// Of at least one.
constexpr unsigned first_of(Requests requests) noexcept {
  return static_cast<unsigned>(__builtin_ctzll(requests));  // std::countr_zero asks whether there is any
}

constexpr bool is_one(Requests requests) noexcept {
  return requests != 0 && (requests & (requests - 1)) == 0;
}

/// Calls f(who) for each of them, in ascending order.
template <class F>
constexpr void for_each(Requests requests, F f) {
  for (; requests != 0; requests &= requests - 1) f(static_cast<unsigned>(std::countr_zero(requests)));
}

/// The same in turns: beginning with that one, then those before it.
template <class F>
constexpr void for_each_from(unsigned first, Requests requests, F f) {
  const Requests before = requests & (request(first) - 1);
  for_each(requests & ~before, f);
  for_each(before, f);
}

/// Round robin: the one behind whoever has won last is the first to win. Nobody who keeps asking waits for more than one turn of
/// each of the others. `Count` is a number of a requester; `Some` holds those that ask.
template <class Count, class Some = Requests>
class RoundRobinOf {
 public:
  static constexpr unsigned most = 8 * sizeof(Some);  ///< requesters

  /// The winner of at least one.
  [[nodiscard]] constexpr unsigned pick(const Some& requests) const noexcept {
    const Some rest = requests & ~Some{} << first_ % most;
    return first_of(rest != Some{} ? rest : requests);
  }
  /// To be told of a winner that had its turn: the one behind it is the first from now on.
  constexpr void had_its_turn(unsigned winner) noexcept {
    first_ = static_cast<std::uint8_t>((winner + 1) % most);
  }

 private:
  Count first_{};
};
using RoundRobin = RoundRobinOf<std::uint8_t>;

}  // namespace am::kit
