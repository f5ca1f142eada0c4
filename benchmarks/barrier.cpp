// `ambench barrier`: the time of one Node::barrier(), called in a loop by every node: 2 nodes, each on its
// core, and 8 nodes, which share them where the machine has fewer cores.

#include <am/am.hpp>

#include <span>
#include <string>
#include <vector>

#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "results/progress.hpp"
#include "together.hpp"

namespace ambench::barrier {

namespace {

void run_node(am::Node& node, std::span<const std::string>) {
  say_place(node);
  node.barrier();
  const double time_us = median_call_us(node, [&] { node.barrier(); });
  if (node.id() == 0) say_figure("barrier_us", time_us);
  node.barrier();
}

Report measure_barrier(const Options& options) {
  std::vector<int> job_sizes{2, 8};
  if (options.nodes != 0) job_sizes = {options.nodes};
  Report report = report_of(measure, options, job_sizes.back());
  Peers peers(options.compare ? Peers::Who::openmpi : Peers::Who::nobody, wire_of(options.transport));
  Series series;
  Progress progress("barrier", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    for (const int nodes : job_sizes) {
      const std::string prefix = std::to_string(nodes) + "/";
      const Finished job = run_job("barrier", nodes);
      if (nodes == job_sizes.front()) report.cpus = job.cpus();
      series.add(prefix + "barrier_us", job.figures().at("barrier_us"));
      peers.with_openmpi([&](const OpenMpi& openmpi) {
        series.add(prefix + "openmpi_barrier_us", openmpi.run("barrier", nodes).figures().at("barrier_us"));
      });
    }
  }
  peers.describe(report);
  if (options.transport != "shm" && options.transport != "cm5")  // which has a control network
    report.remarks.push_back(
        "nodes of one machine meet in its shared memory, whatever the network: this measures no message");
  for (const int nodes : job_sizes) {
    const std::string prefix = std::to_string(nodes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(nodes) + " nodes, one barrier");
    row.key("nodes", nodes).figure("barrier_us", "libam", series.at(prefix + "barrier_us"));
    peers.compare(row, series, prefix, "barrier_us", "openmpi", "Open MPI");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "barrier",
    .meaning = "time of one barrier of all nodes",
    .least_nodes = 2,
    .can_compare = true,
    .measure = measure_barrier,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::barrier
