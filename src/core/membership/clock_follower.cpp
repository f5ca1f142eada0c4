#include "core/membership/clock_follower.hpp"

#include <algorithm>

namespace am::core {

namespace {

constexpr std::uint64_t second = 1'000'000'000;

std::int64_t scaled(host::ClockRate rate, std::uint64_t ns) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(rate) / static_cast<double>(host::clock_rate_one) *
                                   static_cast<double>(ns));
}
host::ClockRate rate_of(std::int64_t ns, std::uint64_t in_ns) noexcept {
  return static_cast<host::ClockRate>(static_cast<double>(ns) / static_cast<double>(in_ns) *
                                      static_cast<double>(host::clock_rate_one));
}

/// By how much two clocks drift apart at most while one of them goes on by so much, as read; rounded up.
std::int64_t drift_in(std::uint64_t ns) noexcept { return scaled(host::largest_drift, ns + 1) + 1; }

}  // namespace

ClockFollower::Difference ClockFollower::Difference::widened(std::uint64_t now) const noexcept {
  const std::int64_t drift = drift_in(now - at);
  return {now, low - drift, high + drift};
}

void ClockFollower::heard(std::uint64_t asked, std::uint64_t told, std::uint64_t now) noexcept {
  // Of the clocks, which are read in whole nanoseconds. What was told at once when it was asked has gone on since, at its own speed.
  const Difference heard{now, static_cast<std::int64_t>(told - now) - 1,
                         static_cast<std::int64_t>(told - asked) + 1 + drift_in(now - asked)};
  if (known_) {
    last_ = last_.widened(now);
    last_.low = std::max(last_.low, heard.low);
    last_.high = std::min(last_.high, heard.high);
  }
  if (known_ && last_.low <= last_.high) return learn_rate();
  // The first one; or one of the clocks has stood still, as that of a virtual machine that was stopped.
  known_ = true;
  first_ = last_ = heard;
  rate_ = 0;
}

/// Once enough time has gone by for what is not known to matter little.
void ClockFollower::learn_rate() noexcept {
  const std::uint64_t gone = last_.at - first_.at;
  const std::int64_t unsure = (last_.high - last_.low + first_.high - first_.low) / 2;
  constexpr host::ClockRate good_enough = host::largest_drift / 20;
  if (gone < second || rate_of(unsure, gone) > good_enough) return;
  rate_ =
      std::clamp(rate_of(last_.middle() - first_.middle(), gone), -host::largest_drift, host::largest_drift);
  if (gone > 60 * second) first_ = last_;  // rates change
}

host::CountLine ClockFollower::line(std::uint64_t epoch, const std::optional<host::CountLine>& before,
                                    std::uint64_t from) const noexcept {
  const Difference difference = last_.widened(from);
  const std::int64_t ahead = difference.middle() + scaled(rate_, from - last_.at);
  host::CountLine line{.from_ns = from,
                       .count = from + static_cast<std::uint64_t>(ahead) - epoch,
                       .rate = rate_,
                       .error_ns = static_cast<std::uint64_t>((difference.high - difference.low + 1) / 2) +
                                   static_cast<std::uint64_t>(std::max(ahead, difference.middle()) -
                                                              std::min(ahead, difference.middle()))};
  if (!before) return line;
  const std::uint64_t so_far = before->at(from);
  const auto off = static_cast<std::int64_t>(line.count - so_far);
  constexpr std::int64_t much = 10'000'000;
  if (off > much) return line;
  constexpr std::uint64_t longest = 10'000 * second;
  line.count = so_far;
  line.for_ns = std::clamp(10 * static_cast<std::uint64_t>(std::max(off, -off)), second, longest);
  line.catch_up = std::max(rate_of(off, line.for_ns), -host::clock_rate_one / 10);
  const std::int64_t never_caught_up = off - scaled(line.catch_up, line.for_ns);
  line.error_ns += static_cast<std::uint64_t>(std::max(never_caught_up, -never_caught_up));
  return line;
}

}  // namespace am::core
