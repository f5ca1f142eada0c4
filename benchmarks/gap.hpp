// Pauses between messages, of random length so that nothing falls into step with them.

#pragma once

#include <cstdint>

#include "clock.hpp"

namespace ambench {

// From least to most nanoseconds, the same sequence in every run.
class Gap {
 public:
  Gap(double least_ns, double most_ns) : least_(least_ns / ns_per_tick()), most_(most_ns / ns_per_tick()) {}

  // Calls idle() until the next pause is over.
  template <typename F>
  void pause(F&& idle) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    const double part = static_cast<double>(state_ >> 11) / 9007199254740992.0;
    const auto length = static_cast<std::uint64_t>(least_ + part * (most_ - least_));
    for (const std::uint64_t start = ticks(); ticks() - start < length;) idle();
  }

 private:
  double least_;
  double most_;
  std::uint64_t state_ = 1;
};

}  // namespace ambench
