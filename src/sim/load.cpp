#include <am/sim/load.hpp>

#include "emulated_hw/kit/load_point.hpp"
#include "sim/shape.hpp"

namespace am::sim {

Figures run(const Shape& shape, const Traffic& traffic, const Periods& periods) {
  const kit::LoadPoint point = kit::run(kit::Load{.network = [&] { return network_of(which(shape)); },
                                                  .traffic = {.pattern = kit::pattern_named(traffic.pattern),
                                                              .injection_rate = traffic.injection_rate,
                                                              .packet_size = traffic.packet_size,
                                                              .seed = traffic.seed,
                                                              .hotspots = traffic.hotspots,
                                                              .hotspot_share = traffic.hotspot_share,
                                                              .perm_seed = traffic.perm_seed},
                                                  .periods = {.sample_period = periods.sample_period,
                                                              .warmup_periods = periods.warmup_periods,
                                                              .max_samples = periods.max_samples,
                                                              .latency_thres = periods.latency_thres}});
  return {.accepted = point.accepted,
          .packets = point.figures.packets,
          .packet_latency = point.figures.packet_latency,
          .network_latency = point.figures.network_latency,
          .p50 = point.figures.p50,
          .p95 = point.figures.p95,
          .p99 = point.figures.p99,
          .longest = point.figures.longest,
          .hops = point.figures.hops,
          .busiest_link = point.busiest_link(),
          .saturated = point.saturated,
          .cycles = point.cycles,
          .fingerprint = point.fingerprint};
}

}  // namespace am::sim
