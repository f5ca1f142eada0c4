// `ambench scale`: what a job costs as it grows, on one machine: from starting amrun until all nodes have passed their first
// barrier, one barrier, and the resident memory of a node; and then, once node 0 has talked with all others, what node 0 needs for
// each of them.

#include <am/am.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "resident.hpp"
#include "results/pinning.hpp"
#include "results/progress.hpp"
#include "together.hpp"

namespace ambench::scale {

namespace {

struct State {
  std::uint64_t answers = 0;

  void ask(am::Request& request) { request.reply<&State::answer>(); }
  void answer(am::Reply&) { ++answers; }
};

// What node 0 has more of when it has talked with all others.
void say_peer_memory(am::Node& node, const State& state) {
  const double before = resident_kib("Pss_Anon") + resident_kib("Pss_Shmem");
  for (am::NodeId other = 1; other < node.size(); ++other) node.request<&State::ask>(other);
  node.wait_until([&] { return state.answers == node.size() - 1; });
  const double after = resident_kib("Pss_Anon") + resident_kib("Pss_Shmem");
  say_figure("peer_memory_kib", (after - before) / (node.size() - 1));
}

// `arguments`: when amrun was started, by CLOCK_MONOTONIC.
void run_node(am::Node& node, std::span<const std::string> arguments) {
  State state;
  node.attach(state);
  node.barrier();
  if (node.id() == 0) {
    say_figure("start_ms", (now_ns() - std::stod(arguments[0])) / 1e6);
    say_figure("memory_kib", resident_kib("Pss_Anon") + resident_kib("Pss_Shmem"));
  }
  const double time_us = median_call_us(node, [&] { node.barrier(); });
  if (node.id() == 0) {
    say_figure("barrier_us", time_us);
    say_peer_memory(node, state);
  }
  node.barrier();
}

Chart chart_of(const std::string& name, const std::string& title, const std::string& unit) {
  return {.name = "scale_" + name,
          .title = title,
          .unit = unit,
          .logarithmic = true,
          .columns = {"libam"},
          .rows = {}};
}

Report measure_scale(const Options& options) {
  std::vector<int> job_sizes{2, 4, 8, 16, 32, 64, 128};
  if (options.nodes != 0) job_sizes = {options.nodes};
  Report report = report_of(measure, options, job_sizes.back());
  report.cpus = core_cpus();  // amrun --bind core: nodes take turns on them
  Series series;
  Progress progress("scale", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    for (const int nodes : job_sizes) {
      const std::vector<std::string> began{std::to_string(now_ns())};
      for (const auto& [name, value] : run_job("scale", nodes, began).figures())
        series.add(std::to_string(nodes) + "/" + name, value);
    }
  }
  const std::string over = " over " + options.transport + ", by nodes";
  Chart start = chart_of("start", "From amrun to the first barrier" + over, "ms");
  Chart barrier = chart_of("barrier", "One barrier" + over, "us");
  Chart memory = chart_of("memory", "Resident memory of node 0" + over, "KiB");
  for (const int nodes : job_sizes) {
    const std::string prefix = std::to_string(nodes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(nodes) + " nodes");
    row.key("nodes", nodes);
    const auto add = [&](const std::string& name, const std::string& label, Chart* chart) {
      const std::vector<double>& samples = series.at(prefix + name);
      row.figure(name, label, samples);
      if (chart != nullptr) chart->rows.push_back({std::to_string(nodes), {summarize(samples)}});
    };
    add("start_ms", "amrun to the first barrier", &start);
    add("barrier_us", "one barrier", &barrier);
    add("memory_kib", "memory of node 0, nobody has talked", &memory);
    add("peer_memory_kib", "and for each peer it has talked with", nullptr);
  }
  report.charts = {start, barrier, memory};
  return report;
}

}  // namespace

const Measure measure{
    .name = "scale",
    .meaning = "start, barrier and memory of jobs of 2 to 128 nodes",
    .least_nodes = 2,
    .measure = measure_scale,
    .run_node = run_node,
    .has_charts = true,
    .over_networks = true,
};

}  // namespace ambench::scale
