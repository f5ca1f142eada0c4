// `ambench network`: latency against offered load, in networks of the textbook router (src/emulated_hw/kit), simulated cycle by
// cycle. The parameters are BookSim2's, and mean the same; each may have several values, and every combination is measured.
// Beside it, how fast the simulation is.
//
// A repetition is another seed: what is shown of a latency is how much it depends on that, not on the machine.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "clock.hpp"
#include "emulated_hw/kit/traffic.hpp"
#include "measure.hpp"
#include "pinning.hpp"
#include "progress.hpp"
#include "trace_file.hpp"
#include "values.hpp"

namespace ambench::network {

namespace {

using am::kit::Cycle;
using am::kit::CycleNetwork;
using am::kit::FatTree;
using am::kit::Grid;
using am::kit::Hypercube;
using am::kit::LoadPoint;
using am::kit::Topology;
using am::kit::Traffic;
using am::kit::TrafficNodes;

// What all curves have in common.
struct Common {
  std::vector<double> rates;
  unsigned vc_buf_size;
  unsigned routing_delay;
  std::uint32_t packet_size;
  std::uint64_t seed;
  std::vector<am::kit::NodeNumber> hotspots;
  double hotspot_share;
  std::uint64_t perm_seed;
  am::kit::Periods periods;
  bool details;

  explicit Common(const Options& options)
      : rates(Values(options, "injection_rate",
                     "0.02,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,"
                     "0.95,1")
                  .numbers<double>()),
        vc_buf_size(Values(options, "vc_buf_size", "6").number<unsigned>()),
        routing_delay(Values(options, "routing_delay", "1").number<unsigned>()),
        packet_size(Values(options, "packet_size", "4").number<std::uint32_t>()),
        seed(Values(options, "seed", "1").number<std::uint64_t>()),
        hotspots(Values(options, "hotspots", "0").numbers<am::kit::NodeNumber>()),
        hotspot_share(Values(options, "hotspot_share", "0.1").number<double>()),
        perm_seed(Values(options, "perm_seed", "0").number<std::uint64_t>()),
        periods{.sample_period = Values(options, "sample_period", "1000").number<std::uint64_t>(),
                .warmup_periods = Values(options, "warmup_periods", "3").number<unsigned>(),
                .max_samples = Values(options, "max_samples", "10").number<unsigned>(),
                .latency_thres = Values(options, "latency_thres", "500").number<double>()},
        details(Values(options, "details", "no").answers() == std::vector{true}) {
    if (periods.sample_period == 0 || periods.max_samples == 0)
      throw UsageError("sample_period and max_samples have to be at least 1");
    if (!(periods.latency_thres > 0)) throw UsageError("latency_thres has to be more than 0");
  }
};

struct Curve {
  unsigned k;
  unsigned n;
  std::string topology;
  std::string traffic;
  unsigned num_vcs;

  [[nodiscard]] bool is_grid() const { return topology == "mesh" || topology == "torus"; }
  [[nodiscard]] Grid grid() const {
    return Grid(std::vector<Grid::Dimension>(n, {.extent = k, .wraps = topology == "torus"}));
  }
  [[nodiscard]] Topology wiring() const {
    if (is_grid()) return grid();
    if (topology == "hypercube") return Hypercube(n);
    if (topology == "fattree") return FatTree::k_ary(k, n);
    throw UsageError("topology is mesh, torus, hypercube or fattree, not '" + topology + "'");
  }
  // A torus with one virtual channel is none: packets could wait for each other in a ring.
  [[nodiscard]] bool needs_more() const { return num_vcs == 1 && vc_classes(wiring()) > 1; }
  [[nodiscard]] unsigned vcs() const { return needs_more() ? vc_classes(wiring()) : num_vcs; }
};

std::vector<Curve> curves_of(const Options& options) {
  const std::vector<unsigned> ks = Values(options, "k", "8").numbers<unsigned>();
  std::vector<Curve> curves;
  for (const unsigned k : ks) {
    for (const unsigned n : Values(options, "n", "2").numbers<unsigned>()) {
      if (n == 0) throw UsageError("n has to be at least 1");
      for (const std::string& topology : Values(options, "topology", "mesh,torus").words()) {
        const bool is_hypercube = topology == "hypercube";
        if (is_hypercube && options.parameters.contains("k") && ks != std::vector{2u})
          throw UsageError("a hypercube takes no k: it has 2^n nodes");
        for (const std::string& traffic : Values(options, "traffic", "uniform,transpose").words()) {
          static_cast<void>(am::kit::pattern_named(traffic));
          for (const unsigned num_vcs : Values(options, "num_vcs", "1,4").numbers<unsigned>())
            curves.push_back({is_hypercube ? 2 : k, n, topology, traffic, num_vcs});
        }
      }
    }
  }
  return curves;
}

// With two digits, and more where they tell it from others: 0.40, 0.401.
std::string written(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", rate);
  if (std::strtod(text.data(), nullptr) != rate) {
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), rate);
    return {text.data(), end};
  }
  return text.data();
}

std::string virtual_channels(const Curve& curve) {
  return curve.vcs() == 1 ? "1 virtual channel" : std::to_string(curve.vcs()) + " virtual channels";
}

// 8x8; of what is no grid, k^n. In names of files, k_n.
std::string size_of(const Curve& curve, const std::string& times = "x", const std::string& to_the = "^") {
  if (!curve.is_grid()) return std::to_string(curve.k) + to_the + std::to_string(curve.n);
  std::string size = std::to_string(curve.k);
  for (unsigned d = 1; d < curve.n; ++d) size += times + std::to_string(curve.k);
  return size;
}

std::string title_of(const Curve& curve, const Common& common) {
  return curve.topology + " of " + size_of(curve, " x ") + (curve.is_grid() ? ", " : " nodes, ") +
         curve.traffic + ", " + virtual_channels(curve) + " of " + std::to_string(common.vc_buf_size) +
         " flits, packets of " + std::to_string(common.packet_size);
}

Traffic traffic_of(const Curve& curve, const Common& common, double rate, int repetition) {
  return {.pattern = am::kit::pattern_named(curve.traffic),
          .injection_rate = rate,
          .packet_size = common.packet_size,
          .seed = common.seed + static_cast<std::uint64_t>(repetition),
          .hotspots = common.hotspots,
          .hotspot_share = common.hotspot_share,
          .perm_seed = common.perm_seed};
}

// Throws std::invalid_argument.
CycleNetwork network_of(const Curve& curve, const Common& common) {
  return {curve.wiring(),
          {.num_vcs = curve.vcs(), .vc_buf_size = common.vc_buf_size, .routing_delay = common.routing_delay}};
}

// Throws std::invalid_argument where there can be no such network, or no such traffic on it.
void check(const Curve& curve, const Common& common) {
  CycleNetwork network = network_of(curve, common);
  for (const double rate : common.rates) TrafficNodes(network, traffic_of(curve, common, rate, 0));
}

// Points of one curve at one load, one of each seed that has packets to tell of; and whether that network is saturated.
struct Points {
  double rate;
  std::vector<double> packet_latency, accepted;
  bool saturated = false;
  std::string fingerprints;
};

Points measure_points(const Curve& curve, double rate, const Common& common, int repetitions, double& steps,
                      double& ns) {
  Points points{.rate = rate, .packet_latency = {}, .accepted = {}, .fingerprints = {}};
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    CycleNetwork network = network_of(curve, common);
    const double began = now_ns();
    const LoadPoint point =
        am::kit::run(network, traffic_of(curve, common, rate, repetition), common.periods);
    ns += now_ns() - began;
    steps += static_cast<double>(network.router_steps());
    if (point.figures.packets != 0) points.packet_latency.push_back(point.figures.packet_latency);
    points.accepted.push_back(point.accepted);
    points.saturated = points.saturated || point.saturated;
    points.fingerprints.append(" ").append(std::to_string(point.fingerprint));
  }
  return points;
}

// The mean over all pairs of nodes, where packets meet no others: the sum of the parts. Of a grid's nodes some are nearer to the middle.
double mean_zero_load(const Topology& topology, const Common& common) {
  const am::kit::NodeNumber nodes = nodes_of(topology);
  const am::kit::NodeNumber senders = std::holds_alternative<Grid>(topology) ? nodes : 1;
  double sum = 0;
  for (am::kit::NodeNumber from = 0; from < senders; ++from) {
    for (am::kit::NodeNumber to = 0; to < nodes; ++to)
      sum += static_cast<double>(
          am::kit::zero_load_latency(distance(topology, from, to), common.packet_size, common.routing_delay));
  }
  return sum / senders / nodes;
}

void add_curve(const Curve& curve, const Common& common, const Options& options, Report& report,
               Chart& chart) {
  Row row(title_of(curve, common));
  row.key("k", curve.k)
      .key("n", curve.n)
      .key("topology", curve.topology)
      .key("traffic", curve.traffic)
      .key("num_vcs", curve.vcs())
      .key("vc_buf_size", common.vc_buf_size)
      .key("routing_delay", common.routing_delay)
      .key("packet_size", common.packet_size);
  if (curve.traffic == "uniform")
    row.figure("zero_load_cycles", "latency without load: the sum of the parts",
               {mean_zero_load(curve.wiring(), common)});
  double steps = 0;
  double ns = 0;
  std::vector<double> accepted;
  chart.columns.push_back(virtual_channels(curve));
  for (std::size_t i = 0; i < common.rates.size(); ++i) {
    const Points points = measure_points(curve, common.rates[i], common, options.repetitions, steps, ns);
    const std::string rate = written(points.rate);
    if (chart.rows.size() <= i) chart.rows.push_back({rate, {}});
    chart.rows[i].cells.resize(chart.columns.size());
    if (common.details)
      row.note("fingerprint_" + rate, "what passed at " + rate, points.fingerprints.substr(1));
    if (points.saturated) {
      row.note("saturated", "latency at " + rate, "saturated");
      accepted = points.accepted;
      break;
    }
    if (points.packet_latency.empty()) {
      row.note("latency_" + rate + "_cycles", "latency at " + rate, "no packets");
      continue;
    }
    accepted = points.accepted;
    row.figure("latency_" + rate + "_cycles", "latency at " + rate, points.packet_latency);
    chart.rows[i].cells.back() = summarize(points.packet_latency);
  }
  if (!accepted.empty())
    row.figure("accepted_flits_per_cycle", "accepted at the last of these, flits per node", accepted);
  row.figure("steps_million_per_s", "steps of routers, idle ones counted", {steps / ns * 1e3});
  report.rows.push_back(std::move(row));
}

// The first sample_period of what is measured, from an empty network on, and then until all has come.
void trace_network(const Curve& curve, const Common& common, const std::string& file, Report& report) {
  CycleNetwork network = network_of(curve, common);
  am::kit::Trace trace(curve.wiring());
  trace.names.title = title_of(curve, common) + ", injection_rate " + written(common.rates.front());
  network.record(&trace);
  TrafficNodes nodes(network, traffic_of(curve, common, common.rates.front(), 0));
  for (Cycle i = 0; i < common.periods.sample_period; ++i) nodes.cycle();
  nodes.stop();
  while (nodes.figures().waiting != 0 || network.flits() != 0) {
    nodes.cycle();
    check_that_it_moves(network);
  }
  trace.ends(network.now());
  write_trace(file, trace, report);
}

Report measure_curves(const Options& options) {
  const Common common(options);
  const std::vector<Curve> curves = curves_of(options);
  const std::size_t of_chart = Values(options, "num_vcs", "1,4").words().size();
  if (!options.trace_file.empty() && (curves.size() != 1 || common.rates.size() != 1))
    throw UsageError(
        "--trace shows one network: one value each of k, n, topology, traffic, num_vcs and "
        "injection_rate");
  for (const Curve& curve : curves) check(curve, common);
  Report report = report_of(measure, options, 1);
  if (std::ranges::any_of(curves, &Curve::needs_more))
    report.remarks.emplace_back(
        "where links form rings, num_vcs=1 is measured with 2: with 1, packets could wait for "
        "each other in a ring");
  pin_to(core_cpus().front());
  report.transport = "simulated";
  report.cpus = {pinned_cpu()};
  Progress progress("network", static_cast<int>(curves.size()));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    progress.step();
    const Curve& curve = curves[i];
    if (i % of_chart == 0) {
      report.charts.push_back(
          {.name = "network_" + curve.topology + "_" + size_of(curve, "x", "_") + "_" + curve.traffic,
           .title = curve.topology + " " + size_of(curve) + ", " + curve.traffic +
                    ": latency of a packet, by offered load (flits per node and cycle)",
           .unit = "cycles",
           .logarithmic = true,
           .columns = {},
           .rows = {}});
    }
    if (!options.trace_file.empty()) trace_network(curve, common, options.trace_file, report);
    add_curve(curve, common, options, report, report.charts.back());
  }
  for (Chart& chart : report.charts) {
    for (Chart::Row& row : chart.rows) row.cells.resize(chart.columns.size());
  }
  return report;
}

Report measure_network(const Options& options) {
  try {
    return measure_curves(options);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

const Measure measure{
    .name = "network",
    .meaning =
        "latency against load in simulated meshes, tori, hypercubes and fat trees of the textbook router",
    .measure = measure_network,
    .has_charts = true,
    .has_trace = true,
    .parameters = {"k", "n", "topology", "traffic", "num_vcs", "vc_buf_size", "routing_delay", "packet_size",
                   "injection_rate", "seed", "hotspots", "hotspot_share", "perm_seed", "sample_period",
                   "warmup_periods", "max_samples", "latency_thres", "details"},
};

}  // namespace ambench::network
