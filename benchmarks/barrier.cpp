// `ambench barrier`: the time of one Node::barrier(), called in a loop by every node: 2 nodes, each on its
// core, and 8 nodes, which share them where the machine has fewer cores.

#include <am/am.hpp>

#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "progress.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

struct State {
  std::uint64_t batches = 0;
  void set_batches(am::Request&, std::uint64_t value) { batches = value; }
};

constexpr int barriers_per_batch = 10;

double batch_ns(am::Node& node) {
  const double start = now_ns();
  for (int i = 0; i < barriers_per_batch; ++i) node.barrier();
  return now_ns() - start;
}

std::vector<double> run_batches(am::Node& node, std::uint64_t count) {
  std::vector<double> samples;
  samples.reserve(count);
  while (samples.size() < count) samples.push_back(batch_ns(node));
  return samples;
}

// All nodes have to run the same number of batches: node 0 chooses it, from the warm-up, and tells the others.
void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  const double warm_batch_ns = median_of(run_batches(node, 20));
  if (node.id() == 0) {
    state.batches = static_cast<std::uint64_t>(min_time_ns / warm_batch_ns) + 1;
    for (am::NodeId other = 1; other < node.size(); ++other)
      node.request<&State::set_batches>(other, state.batches);
  }
  node.wait_until([&] { return state.batches != 0; });
  node.barrier();
  const std::vector<double> samples = run_batches(node, state.batches);
  if (node.id() == 0) say_figure("barrier_us", median_of(samples) / (1e3 * barriers_per_batch));
  node.barrier();
}

Report measure_barrier(const Options& options) {
  std::vector<int> job_sizes{2, 8};
  if (options.nodes != 0) job_sizes = {options.nodes};
  Report report = report_of(barrier, options, job_sizes.back());
  Peers peers(options.compare ? Peers::Who::openmpi : Peers::Who::nobody);
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
  for (const int nodes : job_sizes) {
    const std::string prefix = std::to_string(nodes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(nodes) + " nodes, one barrier");
    row.key("nodes", nodes).figure("barrier_us", "libam", series.at(prefix + "barrier_us"));
    peers.compare(row, series, prefix, "barrier_us", "openmpi", "Open MPI");
  }
  return report;
}

}  // namespace

const Measure barrier{"barrier", "time of one barrier of all nodes", 2, true, measure_barrier, run_node};

}  // namespace ambench
