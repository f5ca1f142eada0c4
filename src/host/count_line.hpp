// A line that follows another host's clock: what Count is on a host whose CLOCK_MONOTONIC is not the first host's. Numbers only:
// job_clock.hpp reads the clock, core/membership/count_keeper.hpp corrects the line.
#pragma once

#include <algorithm>
#include <cstdint>

namespace am::host {

/// A speed beside that of this host's clock, in parts of 2^40: 200 ppm are a 5000th of that.
using ClockRate = std::int64_t;
inline constexpr ClockRate clock_rate_one = ClockRate{1} << 40;
/// By how much the clocks of two hosts drift apart at most: twice what good ones do, with what NTP does to them. What is said about
/// the error of Count rests on it.
inline constexpr ClockRate largest_drift = clock_rate_one / 5000;

/// Count from some moment on. Runs by `rate` faster than this host's clock, and for a while by `catch_up` more, as far as it was
/// off. Both together are never so slow that it would stand still; `rate` is at most largest_drift, either way.
struct CountLine {
  std::uint64_t from_ns = 0;  ///< CLOCK_MONOTONIC of this host
  std::uint64_t count = 0;    ///< then
  ClockRate rate = 0;
  ClockRate catch_up = 0;
  std::uint64_t for_ns = 0;
  std::uint64_t error_ns =
      0;  ///< by how much the first host's may differ then, but for what it is to catch up

  /// `now`: CLOCK_MONOTONIC of this host; before `from_ns` it stands still.
  [[nodiscard]] constexpr std::uint64_t at(std::uint64_t now) const noexcept {
    const std::uint64_t gone = since(now);
    return count + gone + static_cast<std::uint64_t>(faster_by(gone, std::min(gone, for_ns)));
  }
  /// By how much it may differ from the first host's.
  [[nodiscard]] constexpr std::uint64_t error_at(std::uint64_t now) const noexcept {
    const std::uint64_t gone = since(now);
    const CountLine drift{.rate = largest_drift, .catch_up = std::max(catch_up, -catch_up)};
    const CountLine turned{.rate = std::max(rate, -rate)};  // the other's clock may go the other way now
    constexpr std::uint64_t rounded =
        5;  // here, in at(), and by both clocks, which are read in whole nanoseconds
    return error_ns + rounded + static_cast<std::uint64_t>(turned.faster_by(gone, 0)) +
           static_cast<std::uint64_t>(drift.faster_by(gone, for_ns - std::min(gone, for_ns)));
  }

 private:
  [[nodiscard]] constexpr std::uint64_t since(std::uint64_t now) const noexcept {
    return now > from_ns ? now - from_ns : 0;
  }
  /// Rounded down once, so that what grows still grows; by halves, so that nothing overflows for a year.
  [[nodiscard]] constexpr std::int64_t faster_by(std::uint64_t ns,
                                                 std::uint64_t catching_up_ns) const noexcept {
    constexpr int half = 20;
    const auto high = [](std::uint64_t n) { return static_cast<std::int64_t>(n >> half); };
    const auto low = [](std::uint64_t n) { return static_cast<std::int64_t>(n & ((1u << half) - 1)); };
    const std::int64_t highs = high(ns) * rate + high(catching_up_ns) * catch_up;
    const std::int64_t lows = low(ns) * rate + low(catching_up_ns) * catch_up;
    return (highs + (lows >> half)) >> half;
  }
};

}  // namespace am::host
