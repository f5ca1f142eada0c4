// Fingerprints of what a network under a clock does: sums of these, so that the order within a cycle does not show.
#pragma once

#include <cstdint>

namespace am::kit {

/// A number that depends on both.
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t z = (a ^ b) * 0x9e3779b97f4a7c15u;
  return z ^ z >> 29;
}

}  // namespace am::kit
