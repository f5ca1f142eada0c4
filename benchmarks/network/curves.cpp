#include "network/curves.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "pinning.hpp"
#include "values.hpp"

namespace ambench::network {

namespace {

bool is_yes(const Options& options, const std::string& name) {
  const std::vector<bool> answers = Values(options, name, "no").answers();
  if (answers.size() != 1) throw UsageError(name + " takes one value");
  return answers.front();
}

}  // namespace

Common::Common(const Options& options)
    : rates(Values(options, "injection_rate",
                   "0.02,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,"
                   "0.95,1")
                .numbers<double>()),
      vc_buf_size(Values(options, "vc_buf_size", "6").number<unsigned>()),
      routing_delay(Values(options, "routing_delay", "1").number<unsigned>()),
      traffic{.packet_size = Values(options, "packet_size", "4").number<std::uint32_t>(),
              .seed = Values(options, "seed", "1").number<std::uint64_t>(),
              .hotspots = Values(options, "hotspots", "0").numbers<am::kit::NodeNumber>(),
              .hotspot_share = Values(options, "hotspot_share", "0.1").number<double>(),
              .perm_seed = Values(options, "perm_seed", "0").number<std::uint64_t>()},
      periods{.sample_period = Values(options, "sample_period", "1000").number<std::uint64_t>(),
              .warmup_periods = Values(options, "warmup_periods", "3").number<unsigned>(),
              .max_samples = Values(options, "max_samples", "10").number<unsigned>(),
              .latency_thres = Values(options, "latency_thres", "500").number<double>()},
      details(is_yes(options, "details")),
      links(is_yes(options, "links")),
      resolution(Values(options, "saturation", "0").number<double>()),
      threads(Values(options, "threads", std::to_string(core_cpus().size())).number<unsigned>()) {
  if (periods.sample_period == 0 || periods.max_samples == 0)
    throw UsageError("sample_period and max_samples have to be at least 1");
  if (!(periods.latency_thres > 0)) throw UsageError("latency_thres has to be more than 0");
  if (options.parameters.contains("saturation") && !(resolution > 0 && resolution < 1))
    throw UsageError("saturation takes what it is to be known to, more than 0 and less than 1");
  if (threads == 0 || threads > 1024) throw UsageError("threads has to be from 1 to 1024");
}

namespace {

std::vector<std::string> machines_of(const Options& options) {
  const bool by_machine = options.parameters.contains("machine");
  if (by_machine && options.parameters.contains("topology"))
    throw UsageError("machine says the topology, too: one of both is enough");
  const std::vector<std::string> machines =
      Values(options, by_machine ? "machine" : "topology", "mesh,torus").words();
  for (const std::string& machine : machines) {
    if (by_machine && std::ranges::count(am::networks::machines, machine) == 0)
      throw UsageError("machine is t1, mmachine, mesh, torus, hypercube or fattree, not '" + machine + "'");
  }
  const auto is_own = [](const std::string& machine) { return am::networks::has_own_routers(machine); };
  for (const char* name : {"num_vcs", "vc_buf_size", "routing_delay"}) {
    if (options.parameters.contains(name) && std::ranges::all_of(machines, is_own))
      throw UsageError(std::string(name) + " is for textbook routers: those of " + machines.front() +
                       " are as its paper has them");
  }
  if (options.parameters.contains("channel") && std::ranges::none_of(machines, is_own))
    throw UsageError("channel is for t1 and mmachine");
  return machines;
}

am::networks::Which which(const Curve& curve, const Common& common) {
  am::networks::Which which{.machine = curve.machine, .k = curve.k, .n = curve.n};
  if (!curve.has_own_routers())
    which.textbook = {
        .num_vcs = curve.vcs(), .vc_buf_size = common.vc_buf_size, .routing_delay = common.routing_delay};
  return which;
}

// One for each number of virtual channels, or for each channel of the machine that is asked for.
void add_curves(const Curve& curve, const Options& options, std::vector<Curve>& curves) {
  if (curve.has_own_routers()) {
    const auto network = network_of(am::networks::Which{curve.machine, curve.k, curve.n});
    for (const std::string& channel : Values(options, "channel", network->channels().front()).words()) {
      curves.push_back(curve);
      curves.back().channel = channel;
    }
    return;
  }
  for (const unsigned num_vcs : Values(options, "num_vcs", "1,4").numbers<unsigned>()) {
    curves.push_back(curve);
    curves.back().num_vcs = num_vcs;
  }
}

}  // namespace

std::vector<Curve> curves_of(const Options& options) {
  const std::vector<unsigned> ks = Values(options, "k", "8").numbers<unsigned>();
  std::vector<Curve> curves;
  for (const unsigned k : ks) {
    for (const unsigned n : Values(options, "n", "2").numbers<unsigned>()) {
      if (n == 0) throw UsageError("n has to be at least 1");
      for (const std::string& machine : machines_of(options)) {
        const bool is_hypercube = machine == "hypercube";
        if (is_hypercube && options.parameters.contains("k") && ks != std::vector{2u})
          throw UsageError("a hypercube takes no k: it has 2^n nodes");
        for (const std::string& traffic : Values(options, "traffic", "uniform,transpose").words()) {
          static_cast<void>(am::kit::pattern_named(traffic));
          add_curves({is_hypercube ? 2 : k, n, machine, traffic, 0}, options, curves);
        }
      }
    }
  }
  return curves;
}

am::kit::Load load_of(const Curve& curve, const Common& common, double rate) {
  am::kit::Load load{.network = [which = which(curve, common)] { return network_of(which); },
                     .traffic = common.traffic,
                     .periods = common.periods};
  load.traffic.pattern = am::kit::pattern_named(curve.traffic);
  load.traffic.injection_rate = rate;
  if (curve.has_own_routers()) load.traffic.channel = load.network()->channel_named(curve.channel);
  return load;
}

std::string written(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", rate);
  if (std::strtod(text.data(), nullptr) != rate) {
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), rate);
    return {text.data(), end};
  }
  return text.data();
}

std::string channels_of(const Curve& curve) {
  if (curve.has_own_routers()) return curve.channel;
  return curve.vcs() == 1 ? "1 virtual channel" : std::to_string(curve.vcs()) + " virtual channels";
}

std::string size_of(const Curve& curve, const std::string& times, const std::string& to_the) {
  if (!curve.is_grid()) return std::to_string(curve.k) + to_the + std::to_string(curve.n);
  std::string size = std::to_string(curve.k);
  for (unsigned d = 1; d < curve.n; ++d) size += times + std::to_string(curve.k);
  return size;
}

std::string title_of(const Curve& curve, const Common& common) {
  const std::string buffers =
      curve.has_own_routers() ? "" : " of " + std::to_string(common.vc_buf_size) + " flits";
  return curve.machine + " of " + size_of(curve, " x ") + (curve.is_grid() ? ", " : " nodes, ") +
         curve.traffic + ", " + channels_of(curve) + buffers + ", packets of " +
         std::to_string(common.traffic.packet_size) + (common.routing_delay == 0 ? ", routing_delay 0" : "");
}

}  // namespace ambench::network
