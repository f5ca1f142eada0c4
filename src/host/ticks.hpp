// The processor's own clock: read in a third of the time that CLOCK_MONOTONIC takes, but in units of its own, and not the same on
// all processors of every machine.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include "host/clock.hpp"
#endif

namespace am::host {

[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return monotonic_ns();
#endif
}

}  // namespace am::host
