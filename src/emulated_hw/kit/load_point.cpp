#include "emulated_hw/kit/load_point.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace am::kit {

namespace {

/// Since its links had carried what `before` says.
std::vector<LinkLoad> loads_since(const NodePort& port, const std::vector<NodePort::LinkCount>& before,
                                  Cycle flit_times) {
  std::vector<LinkLoad> loads;
  loads.reserve(before.size());
  for (const auto& [link, flits] : port.links())
    loads.push_back(
        {link, static_cast<double>(flits - before[loads.size()].flits) / static_cast<double>(flit_times)});
  return loads;
}

}  // namespace

double LoadPoint::busiest_link() const noexcept {
  double most = 0;
  for (const LinkLoad& link : links) most = std::max(most, link.flits);
  return most;
}

LoadPoint run(NodePort& port, const Traffic& traffic, const Periods& periods) {
  if (periods.sample_period == 0 || periods.max_samples == 0)
    throw std::invalid_argument("sample_period and max_samples have to be at least 1");
  if (!(periods.latency_thres > 0)) throw std::invalid_argument("latency_thres has to be more than 0");
  TrafficNodes nodes(port, traffic);
  const auto go = [&](Cycle flit_times) {
    for (Cycle i = 0; i < flit_times * port.flit_cycles(); ++i) nodes.cycle();
    check_that_it_moves(port);
  };
  for (unsigned i = 0; i < periods.warmup_periods; ++i) go(periods.sample_period);
  nodes.measure(true);
  const std::vector<NodePort::LinkCount> before = port.links();
  for (unsigned i = 0; i < periods.max_samples; ++i) go(periods.sample_period);
  nodes.measure(false);
  const Cycle counted = periods.sample_period * periods.max_samples;
  LoadPoint point{.offered = traffic.injection_rate};
  point.accepted =
      static_cast<double>(nodes.figures().accepted_flits) / port.nodes() / static_cast<double>(counted);
  point.links = loads_since(port, before, counted);
  // So long that a network below the threshold is empty of them.
  for (unsigned i = 0; i < periods.max_samples && nodes.figures().under_way != 0; ++i)
    go(periods.sample_period);
  point.figures = nodes.figures();
  point.saturated =
      point.figures.under_way != 0 ||
      point.figures.packet_latency > periods.latency_thres * static_cast<double>(port.flit_cycles());
  point.cycles = port.now();
  point.router_steps = port.now() * routers_of(port.topology());
  point.fingerprint = port.fingerprint();
  return point;
}

LoadPoint run(const Load& load) { return run(*load.network(), load.traffic, load.periods); }

std::optional<LoadPoint> saturation(const Load& load, double resolution) {
  const auto at = [&](double rate) {
    Load one = load;
    one.traffic.injection_rate = rate;
    return run(one);
  };
  LoadPoint highest = at(1);
  if (!highest.saturated) return highest;
  std::optional<LoadPoint> found;
  double below = 0;
  double above = 1;
  while (above - below > resolution) {
    const double rate = (below + above) / 2;
    if (rate <= below || rate >= above) break;  // no number is between them
    LoadPoint point = at(rate);
    (point.saturated ? above : below) = rate;
    if (!point.saturated) found = std::move(point);
  }
  return found;
}

}  // namespace am::kit
