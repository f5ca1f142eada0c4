// How an operation of all nodes is timed: every node calls it in a loop, as often as the others.

#pragma once

#include <am/am.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "timing.hpp"

namespace ambench {

// The median time of one call(), in batches. All nodes have to run the same number of them: node 0 chooses it, from the
// warm-up.
template <typename F>
double median_call_us(am::Node& node, F&& call) {
  constexpr int calls_per_batch = 10;
  constexpr std::uint64_t warm_up_batches = 20;
  const auto timed = [&](std::uint64_t count) {
    std::vector<double> samples;
    samples.reserve(count);
    while (samples.size() < count) {
      const double start = now_ns();
      for (int i = 0; i < calls_per_batch; ++i) call();
      samples.push_back(now_ns() - start);
    }
    return median_of(std::move(samples));
  };
  const auto wanted = static_cast<std::uint64_t>(min_time_ns / timed(warm_up_batches)) + 1;
  return timed(am::broadcast(node, wanted)) / (1e3 * calls_per_batch);
}

}  // namespace ambench
