// What lies between the processor of a CM-5 node and its memory (von Eicken 1993, 3.2.1): the cache, 64 KB, direct mapped, in lines of 32 bytes,
// and the write buffer, four stores that wait for the memory bus, one behind the other, while the processor goes on. Instructions, which share
// the cache, take no lines here.
//
// Assumed: lines of the size of a transfer; stores write through, and bring no line in.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"

namespace am::cm5 {

/// Which lines are in it.
class Cache {
 public:
  static constexpr std::uint32_t line_words = 8;
  static constexpr std::size_t lines = (64 << 10) / 32;

  /// Reads the word, and its line into the cache. Returns whether the line was there before.
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

class WriteBuffer {
 public:
  static constexpr unsigned entries = 4;

  /// When there is an entry for one more store.
  [[nodiscard]] kit::Cycle has_entry_at() const noexcept { return over_at_[next_]; }
  /// When the bus has done all.
  [[nodiscard]] kit::Cycle is_empty_at() const noexcept { return empty_at_; }
  /// There is an entry: when the bus has done it.
  kit::Cycle put(kit::Cycle now, unsigned bus_cycles) noexcept {
    empty_at_ = std::max(now, empty_at_) + bus_cycles;
    over_at_[next_] = empty_at_;
    next_ = (next_ + 1) % entries;
    return empty_at_;
  }

 private:
  std::array<kit::Cycle, entries> over_at_{};
  kit::Cycle empty_at_ = 0;
  unsigned next_ = 0;  // the entry of the oldest store
};

}  // namespace am::cm5
