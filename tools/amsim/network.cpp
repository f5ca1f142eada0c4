// `amsim network`: latency against offered load, in networks of the textbook router (src/emulated_hw/kit) and in those of the papers'
// machines, simulated cycle by cycle. The parameters are BookSim2's, and mean the same; each may have several values, and every
// combination is simulated. Beside it, how fast the simulation is.
//
// A repetition is another seed: what is shown of a latency is how much it depends on that, not on the machine.

#include <algorithm>
#include <ctime>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "amsim/network/curves.hpp"
#include "amsim/network/load_curve.hpp"
#include "amsim/simulation.hpp"
#include "amsim/trace_file.hpp"
#include "emulated_hw/kit/names.hpp"
#include "results/pinning.hpp"
#include "results/progress.hpp"

namespace amsim::network {

namespace {

using am::kit::Cycle;
using am::kit::Load;
using am::kit::LoadPoint;
using am::kit::TrafficNodes;
using Points = std::vector<LoadPoint>;  // at one rate, of each seed

// Throws std::invalid_argument where there can be no such network, or no such traffic on it.
void check(const Curve& curve, const Common& common) {
  const auto network = load_of(curve, common, common.rates.front()).network();
  for (const double rate : common.rates) TrafficNodes(*network, load_of(curve, common, rate).traffic);
}

// The mean over all pairs of nodes, where packets meet no others: the sum of the parts. Of a grid's nodes some are nearer to the middle.
double mean_zero_load(const Load& load) {
  const auto network = load.network();
  const am::kit::Topology& topology = network->topology();
  const am::kit::NodeNumber nodes = network->nodes();
  const am::kit::NodeNumber senders = std::holds_alternative<am::kit::Grid>(topology) ? nodes : 1;
  double sum = 0;
  for (am::kit::NodeNumber from = 0; from < senders; ++from) {
    for (am::kit::NodeNumber to = 0; to < nodes; ++to)
      sum += static_cast<double>(network->zero_load_between(from, to, load.traffic.packet_size));
  }
  return sum / senders / nodes;
}

// Of all threads.
double processor_ns() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
}

template <class F>
std::vector<double> each(const Points& points, F figure) {
  std::vector<double> all;
  for (const LoadPoint& point : points) all.push_back(static_cast<double>(std::invoke(figure, point)));
  return all;
}
template <class T>
auto of_packets(T TrafficNodes::Figures::*figure) {
  return [figure](const LoadPoint& point) { return point.figures.*figure; };
}

void add_details(const Curve& curve, const std::string& rate, const Points& points, Row& row) {
  using Figures = TrafficNodes::Figures;
  const auto cycles = [&](const char* name, const char* label, auto figure) {
    row.figure("latency_" + rate + "_" + name + "_cycles", label, each(points, of_packets(figure)));
  };
  cycles("p50", "  of 50 in 100 packets, at most", &Figures::p50);
  cycles("p95", "  of 95 in 100", &Figures::p95);
  cycles("p99", "  of 99 in 100", &Figures::p99);
  cycles("longest", "  of all", &Figures::longest);
  cycles("network", "  in the network", &Figures::network_latency);
  row.figure("passed_" + rate + "_routers", "  routers on the way", each(points, of_packets(&Figures::hops)));
  const std::string per = "_" + load_unit_of(curve);
  row.figure("accepted_" + rate + per, "  accepted, flits per node", each(points, &LoadPoint::accepted));
  row.figure("busiest_" + rate + per, "  the busiest link", each(points, &LoadPoint::busiest_link));
}

void add_fingerprints(const std::string& rate, const Points& points, Row& row) {
  std::string all;
  for (const LoadPoint& point : points)
    all.append(all.empty() ? "" : " ").append(std::to_string(point.fingerprint));
  row.note("fingerprint_" + rate, "what passed at " + rate, all);
}

void add_links(const Curve& curve, const std::string& rate, const Points& points, Row& row) {
  for (std::size_t i = 0; i < points.front().links.size(); ++i) {
    const auto [from, port] = points.front().links[i].link;
    const bool is_nodes = port == am::kit::Link::of_node;
    const std::string number = std::to_string(from), of_port = std::to_string(port);
    row.figure("link_" + (is_nodes ? "node_" + number : "router_" + number + "_port_" + of_port) + "_" +
                   rate + "_" + load_unit_of(curve),
               (is_nodes ? "  link of node " + number : "  link of router " + number + ", port " + of_port) +
                   ", at " + rate,
               each(points, [i](const LoadPoint& point) { return point.links[i].flits; }));
  }
}

void add_saturation(const Curve& curve, const Common& common, unsigned seeds, const Threads& threads,
                    Row& row) {
  const Load load = load_of(curve, common, common.rates.front());
  Points points;
  for (auto& point : saturations(load, common.resolution, seeds, threads)) {
    if (point) points.push_back(std::move(*point));
  }
  const std::string name = "saturation_" + load_unit_of(curve);
  const std::string label = "highest load that does not saturate it, flits per node";
  if (points.empty()) {
    row.note(name, label, "none of those tried");
  } else {
    row.figure(name, label, each(points, &LoadPoint::offered));
  }
}

Row row_of(const Curve& curve, const Common& common) {
  Row row(title_of(curve, common));
  row.key("k", curve.k).key("n", curve.n);
  if (curve.has_own_routers())
    return row.key("machine", curve.machine)
        .key("traffic", curve.traffic)
        .key("channel", curve.channel)
        .key("packet_size", common.traffic.packet_size);
  return row.key("topology", curve.machine)
      .key("traffic", curve.traffic)
      .key("num_vcs", curve.vcs())
      .key("vc_buf_size", common.vc_buf_size)
      .key("routing_delay", common.routing_delay)
      .key("packet_size", common.traffic.packet_size);
}

void add_curve(const Curve& curve, const Common& common, unsigned seeds, const Threads& threads,
               Report& report, Chart& chart) {
  Row row = row_of(curve, common);
  const Load load = load_of(curve, common, common.rates.front());
  if (curve.traffic == "uniform")
    row.figure("zero_load_cycles", "latency without load: the sum of the parts", {mean_zero_load(load)});
  const double began = processor_ns();
  const LoadCurve measured = load_curve(load, common.rates, seeds, threads);
  const double ns = processor_ns() - began;
  chart.columns.push_back(channels_of(curve));
  std::vector<double> accepted;
  const Points* last = nullptr;  // that is not saturated
  for (std::size_t i = 0; i < measured.points.size(); ++i) {
    const Points& all = measured.points[i];
    const std::string rate = written(common.rates[i]);
    if (chart.rows.size() <= i) chart.rows.push_back({rate, {}});
    chart.rows[i].cells.resize(chart.columns.size());
    if (common.details) add_fingerprints(rate, all, row);
    if (std::ranges::any_of(all, &LoadPoint::saturated)) {
      row.note("saturated", "latency at " + rate, "saturated");
      accepted = each(all, &LoadPoint::accepted);
      continue;
    }
    Points points;  // of packets
    std::ranges::copy_if(all, std::back_inserter(points),
                         [](const LoadPoint& point) { return point.figures.packets != 0; });
    if (points.empty()) {
      row.note("latency_" + rate + "_cycles", "latency at " + rate, "no packets");
      continue;
    }
    accepted = each(all, &LoadPoint::accepted);
    const std::vector<double> latencies = each(points, of_packets(&TrafficNodes::Figures::packet_latency));
    row.figure("latency_" + rate + "_cycles", "latency at " + rate, latencies);
    chart.rows[i].cells.back() = summarize(latencies);
    if (common.details) add_details(curve, rate, points, row);
    last = &all;
  }
  if (!accepted.empty())
    row.figure("accepted_" + load_unit_of(curve), "accepted at the last of these, flits per node", accepted);
  if (common.resolution > 0) add_saturation(curve, common, seeds, threads, row);
  if (common.links && last != nullptr) add_links(curve, written(last->front().offered), *last, row);
  row.figure("steps_million_per_s", "steps of routers, idle ones counted, on one processor",
             {static_cast<double>(measured.router_steps) / ns * 1e3});
  report.rows.push_back(std::move(row));
}

// The first sample_period of what is measured, from an empty network on, and then until all has come.
void trace_network(const Curve& curve, const Common& common, const std::string& file, Report& report) {
  const Load load = load_of(curve, common, common.rates.front());
  const auto network = load.network();
  am::kit::Trace trace(network->topology());
  trace.names.messages = network->channels();
  trace.names.title = title_of(curve, common) + ", injection_rate " + written(common.rates.front());
  network->record(&trace);
  TrafficNodes nodes(*network, load.traffic);
  for (Cycle i = 0; i < common.periods.sample_period * curve.flit_cycles; ++i) nodes.cycle();
  nodes.stop();
  while (nodes.figures().waiting != 0 || !network->is_empty()) {
    nodes.cycle();
    check_that_it_moves(*network);
  }
  trace.ends(network->now());
  write_trace(file, trace, report);
}

Chart chart_of(const Curve& curve) {
  return {.name = "network_" + curve.machine + "_" + size_of(curve, "x", "_") + "_" + curve.traffic,
          .title = curve.machine + " " + size_of(curve) + ", " + curve.traffic +
                   ": latency of a packet, by offered load (flits per node and " + flit_time_of(curve) + ")",
          .unit = "cycles",
          .logarithmic = true,
          .columns = {},
          .rows = {}};
}

Report simulate(const Options& options) {
  const Common common(options.parameters);
  const std::vector<Curve> curves = curves_of(options.parameters);
  if (!options.trace_file.empty() && (curves.size() != 1 || common.rates.size() != 1))
    throw UsageError(
        "--trace shows one network: one value each of k, n, topology or machine, traffic, num_vcs or "
        "channel, and injection_rate");
  for (const Curve& curve : curves) check(curve, common);
  Report report = report_of(options);
  if (std::ranges::any_of(curves, &Curve::needs_more))
    report.remarks.emplace_back(
        "where links form rings, num_vcs=1 is measured with 2: with 1, packets could wait for "
        "each other in a ring");
  report.cpus = core_cpus();
  report.cpus.resize(std::min<std::size_t>(report.cpus.size(), common.threads));
  const Threads threads{.count = common.threads, .begins = [&report](unsigned thread) {
                          pin_to(report.cpus[thread % report.cpus.size()]);
                        }};
  Progress progress("network", static_cast<int>(curves.size()));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    progress.step();
    Chart chart = chart_of(curves[i]);
    if (report.charts.empty() || report.charts.back().name != chart.name)
      report.charts.push_back(std::move(chart));
    if (!options.trace_file.empty()) trace_network(curves[i], common, options.trace_file, report);
    add_curve(curves[i], common, static_cast<unsigned>(report.repetitions), threads, report,
              report.charts.back());
  }
  for (Chart& chart : report.charts) {
    for (Chart::Row& row : chart.rows) row.cells.resize(chart.columns.size());
  }
  return report;
}

const std::string meaning =
    "latency against load in meshes, tori, hypercubes and fat trees of the textbook router, and in the "
    "networks of " +
    am::kit::listed(am::networks::machines, " and ", &am::networks::Own::title);
const std::string meaning_of_topology =
    "of textbook routers: " + am::kit::listed(am::kit::topologies, " or ") + " [list]";
const std::string meaning_of_machine =
    "in place of topology: " + names_of_own(", ") + ", or a topology of textbook routers [list]";
const std::string meaning_of_channel =
    "of " + names_of_own(" and ") + ", which packets take; else the first [list]";

}  // namespace

const Simulation simulation{
    .name = "network",
    .meaning = meaning.c_str(),
    .run = simulate,
    .has_trace = true,
    .usual_seeds = 11,
    .parameters =
        {{"k", "8", "extent of a dimension; a hypercube, ncube2 and cm5 take none [list]"},
         {"n", "2", "dimensions, or levels of a tree [list]"},
         {"topology", "mesh,torus", meaning_of_topology.c_str()},
         {"machine", "", meaning_of_machine.c_str()},
         {"channel", "", meaning_of_channel.c_str()},
         {"traffic", "uniform,transpose",
          "uniform, transpose, neighbor, hotspot, bitcomp, bitrev, shuffle, tornado or randperm [list]"},
         {"num_vcs", "1,4", "virtual channels of a link [list]"},
         {"vc_buf_size", "6", "flits of a buffer"},
         {"routing_delay", "1", "cycles; 0 is lookahead"},
         {"packet_size", "4", "flits"},
         {"injection_rate",
          "0.02,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1",
          "flits per node and cycle; of ncube2 and cm5, and 36 or 8 cycles, the time of a flit [list]"},
         {"seed", "1", "the first"},
         {"hotspots", "0", "nodes"},
         {"hotspot_share", "0.1", "of all packets, that they get"},
         {"perm_seed", "0", "of randperm"},
         {"sample_period", "1000", "cycles; of ncube2 and cm5, times of a flit"},
         {"warmup_periods", "3", "before packets count"},
         {"max_samples", "10", "periods in which they count"},
         {"latency_thres", "500", "the same; more is called saturated"},
         {"details", "no", "yes: percentiles, hops, what is accepted, and a fingerprint of each point"},
         {"links", "no", "yes: the load of each link"},
         {"saturation", "", "also find the highest load that does not saturate it, to within this"},
         {"threads", "", "that compute points; else one for each core"}},
};

}  // namespace amsim::network
