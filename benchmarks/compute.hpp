// Computation that touches no memory: what a node does while it does not communicate. One iteration depends on the one
// before, so its time is the processor's alone, and what is missing from its rate is what somebody else took.

#pragma once

#include <cstdint>

namespace ambench {

inline void compute(std::uint64_t iterations) {
  std::uint64_t x = iterations;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));  // one after another, and all of them
  }
}

// How many take a microsecond here and now. Some 20 ms.
double computed_per_us();

}  // namespace ambench
