// The write buffer of a CM-5 node: four stores that wait for the memory bus, one behind the other, while the processor goes on (von Eicken 1993,
// 3.2.1).
#pragma once

#include <algorithm>
#include <array>

#include "emulated_hw/kit/cycle.hpp"

namespace am::cm5 {

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
