// How a repetition is timed: a batch of operations again and again for a while, and the median batch counts. A batch in
// which the kernel gave the core to somebody else says nothing about libam, and a mean would carry it.

#pragma once

#include <utility>
#include <vector>

#include "clock.hpp"

namespace ambench {

// How long one repetition of a timing loop lasts at least.
inline constexpr double min_time_ns = 25e6;
inline constexpr double warm_up_ns = 2e6;

// `samples` must not be empty; the upper one of two middle ones.
double median_of(std::vector<double> samples);

// Runs batch() for `time_ns`, at least once; the median of its times.
template <typename F>
double median_batch_ns(F&& batch, double time_ns = min_time_ns) {
  std::vector<double> samples;
  const double end = now_ns() + time_ns;
  for (double before = now_ns(); before < end || samples.empty();) {
    batch();
    const double after = now_ns();
    samples.push_back(after - before);
    before = after;
  }
  return median_of(std::move(samples));
}

// Two ways to do the same, `calls` times in a batch: what one call takes of each, measured in turn so that both meet the same weather.
template <class A, class B>
std::pair<double, double> medians_in_turn(A a, B b, int calls) {
  constexpr int rounds = 9;
  std::vector<double> of_a;
  std::vector<double> of_b;
  const auto timed = [calls](auto& once) {
    return median_batch_ns([&] {
             for (int i = 0; i < calls; ++i) once();
           }) /
           calls;
  };
  for (int round = 0; round < rounds; ++round) {
    of_a.push_back(timed(a));
    of_b.push_back(timed(b));
  }
  return {median_of(std::move(of_a)), median_of(std::move(of_b))};
}

}  // namespace ambench
