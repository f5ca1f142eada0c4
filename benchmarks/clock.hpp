// The two clocks of the measures: monotonic nanoseconds, and the processor's constant-rate counter, whose
// reading costs less. Counter ticks are what the tables call cycles: cycles at the counter's nominal rate,
// not at the core's momentary one.

#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ambench {

inline double now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Measured once against now_ns(), over 5 ms.
double ns_per_tick();

// What a pair of readings costs by itself, in ticks; to be taken off a measured interval.
double tick_overhead();

// Keeps a result, and the memory behind it, from being optimised away.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

inline void spin_pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ambench
