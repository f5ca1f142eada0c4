// Latency against load: points of one network at several rates, for several seeds, on as many threads as there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emulated_hw/kit/load_point.hpp"

namespace amsim::network {

// The threads that compute points. Which figures come out does not depend on them.
struct Threads {
  unsigned count = 1;
  std::function<void(unsigned thread)> begins = [](unsigned) {};  //< called on each of them, first
};

struct LoadCurve {
  // By rate, in the order in which these were asked for; of each, a point for each seed. It ends behind the first rate at which the
  // network is saturated for one of the seeds.
  std::vector<std::vector<am::kit::LoadPoint>> points;
  // Simulated for it. Some may be of points behind its end, so they depend on the threads.
  std::uint64_t router_steps = 0;
};
// `load` at each rate in place of its own, and with seeds from its own on. Throws as run() does.
[[nodiscard]] LoadCurve load_curve(const am::kit::Load& load, const std::vector<double>& rates,
                                   unsigned seeds, const Threads& threads);

// saturation() with seeds from the load's own on.
[[nodiscard]] std::vector<std::optional<am::kit::LoadPoint>> saturations(const am::kit::Load& load,
                                                                         double resolution, unsigned seeds,
                                                                         const Threads& threads);

}  // namespace amsim::network
