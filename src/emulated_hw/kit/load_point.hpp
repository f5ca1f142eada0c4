// What a network does under a load: one point of its curve. All figures are a function of what is run, so they are the same wherever and
// in whatever order points are computed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "emulated_hw/kit/traffic.hpp"

namespace am::kit {

/// How long to simulate, in flit times (NodePort). BookSim2's names: warmup_periods, sample_period, max_samples, latency_thres.
struct Periods {
  Cycle sample_period = 1000;
  unsigned warmup_periods = 3;
  unsigned max_samples = 10;
  double latency_thres = 500;  ///< a network with a greater mean packet latency is saturated
};

struct LinkLoad {
  Link link;
  double flits = 0;  ///< per flit time
  bool operator==(const LinkLoad&) const = default;
};

struct LoadPoint {
  double offered = 0;   ///< flits per node and flit time
  double accepted = 0;  ///< the same, of what came out while counting
  TrafficNodes::Figures figures{};
  std::vector<LinkLoad> links{};  ///< of all, while counting
  bool saturated = false;         ///< so that packets that count are still under way
  Cycle cycles = 0;
  std::uint64_t router_steps = 0;
  std::uint64_t fingerprint = 0;  ///< of the network, at the end

  bool operator==(const LoadPoint&) const = default;
  /// Of the link that carries most.
  [[nodiscard]] double busiest_link() const noexcept;
};
/// Warms up, counts the packets that are made in max_samples periods, and goes on, making packets, until they have come or the
/// network turns out to be saturated. Throws std::invalid_argument, or std::runtime_error when nothing moves any more: who waits for whom.
[[nodiscard]] LoadPoint run(NodePort& port, const Traffic& traffic, const Periods& periods = {});

/// A network that is new, and what is run on it.
struct Load {
  std::function<std::unique_ptr<NodePort>()> network;
  Traffic traffic{};
  Periods periods{};
};
[[nodiscard]] LoadPoint run(const Load& load);

/// By bisection: the highest rate that does not saturate it, up to a flit per node and cycle, to within `resolution`, which is more than
/// 0; or none, where the lowest one that was tried does.
[[nodiscard]] std::optional<LoadPoint> saturation(const Load& load, double resolution);

}  // namespace am::kit
