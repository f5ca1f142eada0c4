// The first word of a message of the nCUBE/2, which the network interprets as its destination (von Eicken 1993, 3.1.3).
//
// The text names a node address, a bit that has the router there peel this word off and use the next one, and bits that make bits of the
// address "don't cares". Assumed: where these lie.
#pragma once

#include <cstdint>

#include "emulated_hw/kit/grid.hpp"

namespace am::ncube2 {

using kit::NodeNumber;
using Word = std::uint32_t;

inline constexpr unsigned most_dimensions =
    13;  ///< "a maximal system size of 8192 processors"; the 14th port is for I/O

struct Address {
  NodeNumber node = 0;
  std::uint32_t mask = 0;  ///< these bits of `node` do not matter: to all such nodes
  bool forwards = false;   ///< from there to the address in the next word

  [[nodiscard]] constexpr Word word() const noexcept {
    return node | mask << mask_at | (forwards ? Word{1} << forwards_at : 0);
  }
  [[nodiscard]] static constexpr Address of(Word word) noexcept {
    return {word & all, word >> mask_at & all, (word >> forwards_at & 1) != 0};
  }
  friend constexpr bool operator==(const Address&, const Address&) = default;

 private:
  static constexpr unsigned mask_at = most_dimensions;
  static constexpr unsigned forwards_at = 2 * most_dimensions;
  static constexpr Word all = (Word{1} << most_dimensions) - 1;
};

}  // namespace am::ncube2
