// Bit fields in words of the M-Machine.
#pragma once

#include <cstdint>

namespace am::mmachine {

/// A coordinate of a node: the address of one has five bits for each.
inline constexpr unsigned place_bits = 5;

/// The lowest bits of a value; all of it for 64 and more.
constexpr std::uint64_t low(std::uint64_t value, unsigned bits) noexcept {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace am::mmachine
