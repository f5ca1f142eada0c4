// What a host knows of another one's clock, from questions and answers: numbers only, no network and no clock.
//
// The other's reading was taken between the question and its answer. So the difference of the two clocks lies between two numbers,
// which is no estimate; from there on the two drift apart by largest_drift at most, so that what was known stays known, less
// exactly, and what each answer tells is cut with it. In the middle of what is left is what Count is corrected by.
#pragma once

#include <cstdint>
#include <optional>

#include "host/count_line.hpp"

namespace am::core {

class ClockFollower {
 public:
  /// The other's clock said `told` between `asked` and `now` of this one's.
  void heard(std::uint64_t asked, std::uint64_t told, std::uint64_t now) noexcept;
  [[nodiscard]] bool has_heard() const noexcept { return known_; }

  /// Count from `from` on, a time of this one's clock that may be a little ahead, where the job began at `epoch` of the other's. It goes
  /// on from `before`, if that is given: what is missing it makes good at once, when it is much, and else within a second; what is
  /// too much it makes good by going more slowly.
  [[nodiscard]] host::CountLine line(std::uint64_t epoch, const std::optional<host::CountLine>& before,
                                     std::uint64_t from) const noexcept;

 private:
  /// The other's clock less this one's, at a time of this one's: between two numbers.
  struct Difference {
    std::uint64_t at = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;

    [[nodiscard]] std::int64_t middle() const noexcept { return low + (high - low) / 2; }
    [[nodiscard]] Difference widened(std::uint64_t now) const noexcept;
  };
  void learn_rate() noexcept;

  bool known_ = false;
  Difference last_;
  Difference first_;  // since which the rate is measured
  host::ClockRate rate_ = 0;
};

}  // namespace am::core
