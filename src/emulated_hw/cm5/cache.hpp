// The cache of a CM-5 node, 64 KB, direct mapped, in lines of 32 bytes (von Eicken 1993, 3.2.1): which lines are in it. Instructions, which share it,
// take no lines here.
//
// Assumed: lines of the size of a transfer; stores write through, and bring no line in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace am::cm5 {

class Cache {
 public:
  static constexpr std::uint32_t line_words = 8;
  static constexpr std::size_t lines = (64 << 10) / 32;

  /// Whether the line of that word was there. It is now.
  bool reads(std::uint32_t word) noexcept {
    const std::uint32_t line = word / line_words;
    std::uint32_t& there = there_[line % lines];
    const bool hit = there == line;
    there = line;
    return hit;
  }

 private:
  std::vector<std::uint32_t> there_ = std::vector(lines, std::numeric_limits<std::uint32_t>::max());
};

}  // namespace am::cm5
