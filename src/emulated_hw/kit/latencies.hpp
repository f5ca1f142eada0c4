// Latencies of many packets, counted by cycles: so percentiles are exact, and a packet costs no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"

namespace am::kit {

class Latencies {
 public:
  void add(Cycle cycles) {
    if (cycles >= packets_.size()) packets_.resize(std::max<std::size_t>(cycles + 1, 2 * packets_.size()));
    ++packets_[cycles];
    ++count_;
    sum_ += cycles;
    longest_ = std::max(longest_, cycles);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// These are 0 of no packets.
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  [[nodiscard]] Cycle longest() const noexcept { return longest_; }
  /// The least that `percent` in a hundred packets do not exceed.
  [[nodiscard]] Cycle percentile(unsigned percent) const noexcept {
    const std::uint64_t wanted = (count_ * percent + 99) / 100;
    Cycle cycles = 0;
    for (std::uint64_t seen = 0; cycles < packets_.size(); ++cycles) {
      seen += packets_[cycles];
      if (seen >= wanted) break;
    }
    return std::min(cycles, longest_);
  }

 private:
  std::vector<std::uint64_t> packets_;  // by cycles
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  Cycle longest_ = 0;
};

}  // namespace am::kit
