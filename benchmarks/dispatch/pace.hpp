// A steady beat, whatever is done between two of its times.

#pragma once

#include <time.h>

#include "clock.hpp"

namespace ambench::dispatching {

class Pace {
 public:
  explicit Pace(double period_ns) : period_ns_(period_ns), next_ns_(now_ns()) {}

  void spin_to_next() {
    advance();
    while (now_ns() < next_ns_) spin_pause();
  }
  void sleep_to_next() {
    advance();
    const auto ns = static_cast<long>(next_ns_);  // since the machine started: exact for a hundred days
    const timespec next{ns / 1'000'000'000, ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }

 private:
  // Who comes later than the next time begins anew: there is no crowd of what was missed.
  void advance() {
    const double now = now_ns();
    next_ns_ += period_ns_;
    if (next_ns_ < now) next_ns_ = now + period_ns_;
  }

  double period_ns_;
  double next_ns_;
};

}  // namespace ambench::dispatching
