#include "amsim/network/load_curve.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "amsim/network/in_parallel.hpp"

namespace amsim::network {

namespace {

am::kit::Load with_seed(am::kit::Load load, std::size_t further) {
  load.traffic.seed += further;
  return load;
}

// Less, if it is less.
void lower(std::atomic<std::size_t>& value, std::size_t other) noexcept {
  std::size_t known = value.load(std::memory_order_relaxed);
  while (other < known && !value.compare_exchange_weak(known, other, std::memory_order_relaxed)) {
  }
}

}  // namespace

LoadCurve load_curve(const am::kit::Load& load, const std::vector<double>& rates, unsigned seeds,
                     const Threads& threads) {
  LoadCurve curve;
  curve.points.assign(rates.size(), std::vector<am::kit::LoadPoint>(seeds));
  // Behind a saturated point nothing is shown. What is left out here is behind one, so it does not matter when a thread hears of that.
  std::atomic<std::size_t> saturated{rates.size()};
  std::atomic<std::uint64_t> steps{0};
  in_parallel(
      rates.size() * seeds, threads.count,
      [&](std::size_t i) {
        const std::size_t rate = i / seeds;
        if (rate > saturated.load(std::memory_order_relaxed)) return;
        am::kit::Load one = with_seed(load, i % seeds);
        one.traffic.injection_rate = rates[rate];
        am::kit::LoadPoint point = run(one);
        steps.fetch_add(point.router_steps, std::memory_order_relaxed);
        if (point.saturated) lower(saturated, rate);
        curve.points[rate][i % seeds] = std::move(point);
      },
      threads.begins);
  curve.points.resize(std::min(saturated.load() + 1, rates.size()));
  curve.router_steps = steps.load();
  return curve;
}

std::vector<std::optional<am::kit::LoadPoint>> saturations(const am::kit::Load& load, double resolution,
                                                           unsigned seeds, const Threads& threads) {
  std::vector<std::optional<am::kit::LoadPoint>> all(seeds);
  in_parallel(
      seeds, threads.count, [&](std::size_t i) { all[i] = saturation(with_seed(load, i), resolution); },
      threads.begins);
  return all;
}

}  // namespace amsim::network
