#include "amsim/network/curves.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "emulated_hw/kit/names.hpp"
#include "results/no_such.hpp"
#include "results/pinning.hpp"

namespace amsim::network {

Common::Common(const Parameters& parameters)
    : rates(parameters["injection_rate"].numbers<double>()),
      vc_buf_size(parameters["vc_buf_size"].number<unsigned>()),
      routing_delay(parameters["routing_delay"].number<unsigned>()),
      traffic{.packet_size = parameters["packet_size"].number<std::uint32_t>(),
              .seed = parameters["seed"].number<std::uint64_t>(),
              .hotspots = parameters["hotspots"].numbers<am::kit::NodeNumber>(),
              .hotspot_share = parameters["hotspot_share"].number<double>(),
              .perm_seed = parameters["perm_seed"].number<std::uint64_t>()},
      periods{.sample_period = parameters["sample_period"].number<std::uint64_t>(),
              .warmup_periods = parameters["warmup_periods"].number<unsigned>(),
              .max_samples = parameters["max_samples"].number<unsigned>(),
              .latency_thres = parameters["latency_thres"].number<double>()},
      details(parameters["details"].answer()),
      links(parameters["links"].answer()),
      resolution(parameters.is_given("saturation") ? parameters["saturation"].number<double>() : 0),
      threads(parameters.is_given("threads") ? parameters["threads"].number<unsigned>()
                                             : static_cast<unsigned>(core_cpus().size())) {
  if (parameters.is_given("saturation") && !(resolution > 0 && resolution < 1))
    throw UsageError("saturation takes what it is to be known to, more than 0 and less than 1");
  if (threads == 0 || threads > 1024) throw UsageError("threads has to be from 1 to 1024");
}

namespace {

std::vector<std::string> machines_of(const Parameters& parameters) {
  const bool by_machine = parameters.is_given("machine");
  if (by_machine && parameters.is_given("topology"))
    throw UsageError("machine says the topology, too: one of both is enough");
  std::vector<std::string> machines = parameters[by_machine ? "machine" : "topology"].words();
  const std::vector<std::string_view> known =
      by_machine ? am::networks::names()
                 : std::vector<std::string_view>(am::kit::topologies.begin(), am::kit::topologies.end());
  for (const std::string& machine : machines) {
    if (std::ranges::count(known, machine) == 0)
      throw UsageError(no_such(by_machine ? "machine" : "topology", machine, known));
  }
  const auto is_own = [](const std::string& machine) { return am::networks::has_own_routers(machine); };
  for (const char* name : {"num_vcs", "vc_buf_size", "routing_delay"}) {
    if (parameters.is_given(name) && std::ranges::all_of(machines, is_own))
      throw UsageError(std::string(name) + " is for textbook routers: those of " + machines.front() +
                       " are as its paper has them");
  }
  if (parameters.is_given("channel") && std::ranges::none_of(machines, is_own))
    throw UsageError("channel is for " + names_of_own(" and "));
  return machines;
}

am::networks::Which which(const Curve& curve, const Common& common) {
  am::networks::Which which{.machine = curve.machine, .k = curve.k, .n = curve.n};
  if (!curve.has_own_routers())
    which.textbook = {
        .num_vcs = curve.vcs(), .vc_buf_size = common.vc_buf_size, .routing_delay = common.routing_delay};
  return which;
}

unsigned channel_of(const am::kit::NodePort& network, const std::string& machine,
                    const std::string& channel) {
  try {
    return network.channel_named(channel);
  } catch (const std::invalid_argument& error) {
    throw UsageError(machine + ": " + error.what());
  }
}

// One for each number of virtual channels, or for each channel of the machine that is asked for.
void add_curves(const Curve& curve, const Parameters& parameters, std::vector<Curve>& curves) {
  if (curve.has_own_routers()) {
    const auto network = network_of(am::networks::Which{curve.machine, curve.k, curve.n});
    const std::vector<std::string> channels = parameters.is_given("channel")
                                                  ? parameters["channel"].words()
                                                  : std::vector{network->channels().front()};
    for (const std::string& channel : channels) {
      curves.push_back(curve);
      curves.back().channel = channel;
      curves.back().channel_number = channel_of(*network, curve.machine, channel);
      curves.back().flit_cycles = network->flit_cycles();
    }
    return;
  }
  for (const unsigned num_vcs : parameters["num_vcs"].numbers<unsigned>()) {
    curves.push_back(curve);
    curves.back().num_vcs = num_vcs;
  }
}

}  // namespace

std::string names_of_own(std::string_view last) {
  return am::kit::listed(am::networks::machines, last, &am::networks::Own::name);
}

std::vector<Curve> curves_of(const Parameters& parameters) {
  const std::vector<unsigned> ks = parameters["k"].numbers<unsigned>();
  std::vector<Curve> curves;
  for (const unsigned k : ks) {
    for (const unsigned n : parameters["n"].numbers<unsigned>()) {
      for (const std::string& machine : machines_of(parameters)) {
        Curve curve{k, n, machine, "", 0};
        if (const unsigned own = curve.own_k(); own != 0) {
          if (parameters.is_given("k") && ks != std::vector{own})
            throw UsageError((machine == "hypercube" ? "a " : "") + machine + " takes no k: it has " +
                             std::to_string(own) + "^n nodes");
          curve.k = own;
        }
        for (const std::string& traffic : parameters["traffic"].words()) {
          static_cast<void>(am::kit::pattern_named(traffic));
          curve.traffic = traffic;
          add_curves(curve, parameters, curves);
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
  load.traffic.channel = curve.channel_number;
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

std::string flit_time_of(const Curve& curve) {
  return curve.flit_cycles == 1 ? "cycle" : std::to_string(curve.flit_cycles) + " cycles";
}

std::string load_unit_of(const Curve& curve) {
  return curve.flit_cycles == 1 ? "flits_per_cycle" : "flits_per_flit_time";
}

std::string title_of(const Curve& curve, const Common& common) {
  const std::string buffers =
      curve.has_own_routers() ? "" : " of " + std::to_string(common.vc_buf_size) + " flits";
  return curve.machine + " of " + size_of(curve, " x ") + (curve.is_grid() ? ", " : " nodes, ") +
         curve.traffic + ", " + channels_of(curve) + buffers + ", packets of " +
         std::to_string(common.traffic.packet_size) + (common.routing_delay == 0 ? ", routing_delay 0" : "");
}

}  // namespace amsim::network
