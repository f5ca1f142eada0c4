#include "clock.hpp"

#include <algorithm>
#include <limits>

namespace ambench {

namespace {

double measure_ns_per_tick() {
  const double start_ns = now_ns();
  const std::uint64_t start_ticks = ticks();
  while (now_ns() - start_ns < 5e6) {
  }
  const std::uint64_t end_ticks = ticks();
  return (now_ns() - start_ns) / static_cast<double>(end_ticks - start_ticks);
}

}  // namespace

double ns_per_tick() {
  static const double value = measure_ns_per_tick();
  return value;
}

double tick_overhead() {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t start = ticks();
    least = std::min(least, static_cast<double>(ticks() - start));
  }
  return least;
}

}  // namespace ambench
