// `amsim ncube2`: what an active message of four words and its answer take on the nCUBE/2 (src/emulated_hw/ncube2), by the number of hops,
// where nothing is in their way; beside one hop and what von Eicken (1993, Figure 3-5) has each further one take.

#include <memory>
#include <string>
#include <vector>

#include "amsim/machines.hpp"
#include "amsim/trace_file.hpp"
#include "emulated_hw/kit/hypercube.hpp"
#include "emulated_hw/ncube2/programs/ping.hpp"

namespace amsim::ncube2 {

namespace {

using am::ncube2::NodeNumber;
using am::ncube2::ping;
using am::ncube2::PingTimes;
using am::ncube2::Router;

constexpr unsigned most_dimensions_of_trace = 8;  // a picture of more nodes shows nothing

// Across so many dimensions of the cube, from node 0.
NodeNumber node_at(unsigned hops) { return (NodeNumber{1} << hops) - 1; }

void add_hops(unsigned dimensions, Report& report) {
  const std::string size = std::to_string(NodeNumber{1} << dimensions);
  Row row("to a node and back, on " + size + " nodes");
  row.key("dimensions", dimensions).references("sum");
  Chart chart{.name = "ncube2_" + size,
              .title = "nCUBE/2 of " + size + " nodes: an active message of four words, by its hops",
              .unit = "cycles",
              .exact = true,
              .columns = {"call to handler", "call to the answer's handler"},
              .rows = {}};
  PingTimes first;
  for (unsigned hops = 1; hops <= dimensions; ++hops) {
    const PingTimes times = ping(dimensions, 0, node_at(hops));
    if (hops == 1) first = times;
    const auto further = am::ncube2::Cycle{Router::router_cycles + Router::flit_cycles} * (hops - 1);
    const auto there = static_cast<double>(times.handled);
    const auto both = static_cast<double>(times.answered);
    const std::string name = "hops_" + std::to_string(hops);
    const std::string label = plural(hops, "hop");
    row.beside(name + "_latency_cycles", label + ", call to handler",
               {.value = static_cast<double>(first.handled + further)}, there);
    row.beside(name + "_round_trip_cycles", label + ", and an answer back",
               {.value = static_cast<double>(first.answered + 2 * further)}, both);
    chart.rows.push_back({label, {exactly(there), exactly(both)}});
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

void trace_ping(unsigned dimensions, const std::string& file, Report& report) {
  if (dimensions > most_dimensions_of_trace)
    throw UsageError("--trace: a cube of at most " + std::to_string(most_dimensions_of_trace) +
                     " dimensions");
  am::kit::Trace trace{am::kit::Hypercube(dimensions)};
  trace.names = am::ncube2::trace_names("an active message to the farthest node, and its answer");
  (void)ping(dimensions, 0, node_at(dimensions), &trace);
  write_trace(file, trace, report);
}

Report simulate(const Options& options) {
  const std::vector<unsigned> cubes = sizes(options.parameters, "dimensions", 1, am::ncube2::most_dimensions);
  Report report = report_of(options);
  trace_the_only(options, cubes, "of dimensions",
                 [&](unsigned dimensions) { trace_ping(dimensions, options.trace_file, report); });
  for_each_machine(options, cubes, [&](unsigned dimensions) { add_hops(dimensions, report); });
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "ncube2",
    .meaning = "what an active message and its answer take on the nCUBE/2, in cycles, by hops",
    .run = simulate,
    .has_trace = true,
    .parameters = {{"dimensions", "6", "of the cube: 2 nodes in each [list]"}},
};

}  // namespace amsim::ncube2
