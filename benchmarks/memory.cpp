// `ambench memory`: what connected pairs of nodes cost. Every node says what share of the job's shared pages,
// and which private pages, are its own resident ones (the kernel divides a shared page among those who map
// it, so the sum over the nodes counts each page once): when the job has started, when nodes 0 and 1 have
// talked, and when all have. Talking goes on until every line of every ring has been used.

#include <am/am.hpp>

#include <cstdint>

#include "job.hpp"
#include "measure.hpp"
#include "resident.hpp"
#include "results/progress.hpp"

namespace ambench::memory {

namespace {

constexpr int messages_each_way = 4096;  // more than a ring has lines

struct State {
  std::uint64_t answers = 0;

  void ask(am::Request& request) { request.reply<&State::answer>(); }
  void answer(am::Reply&) { ++answers; }
};

// Said by every node on its own, so that saying it connects nobody.
void say_memory(am::Node& node, const std::string& stage) {
  node.barrier();
  const std::string name = stage + "/" + std::to_string(node.id());
  say_figure(name + "/shared_kib", resident_kib("Pss_Shmem"));
  say_figure(name + "/private_kib", resident_kib("Pss_Anon"));
  node.barrier();
}

void talk(am::Node& node, const State& state, am::NodeId other) {
  const std::uint64_t expected = state.answers + messages_each_way;
  for (int i = 0; i < messages_each_way; ++i) node.request<&State::ask>(other);
  node.wait_until([&] { return state.answers == expected; });
}

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  say_memory(node, "start");
  if (node.id() < 2) talk(node, state, 1 - node.id());
  say_memory(node, "one_pair");
  for (am::NodeId distance = 1; distance < node.size(); ++distance) {
    talk(node, state, (node.id() + distance) % node.size());
  }
  say_memory(node, "all_pairs");
}

double sum_over_nodes(const Figures& figures, const std::string& stage, const std::string& kind) {
  double sum = 0;
  for (const auto& [name, value] : figures) {
    if (name.starts_with(stage + "/") && name.ends_with("/" + kind)) sum += value;
  }
  return sum;
}

void add_pairs(Report& report, const Series& series, const std::string& title, const std::string& stage,
               int pairs) {
  Row& row = report.rows.emplace_back(title);
  row.key("nodes", report.nodes).key("pairs", pairs);
  row.figure("shared_per_pair_kib", "shared, per pair, both directions and priorities",
             series.at(stage + "/shared_kib"));
  row.figure("private_per_pair_kib", "private, likewise", series.at(stage + "/private_kib"));
}

Report measure_memory(const Options& options) {
  const int nodes = options.nodes != 0 ? options.nodes : 16;
  const int all_pairs = nodes * (nodes - 1) / 2;
  Report report = report_of(measure, options, nodes);
  Series series;
  Progress progress("memory", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished job = run_job("memory", nodes);
    const Figures figures = job.figures();
    report.cpus = job.cpus();
    for (const std::string kind : {"shared_kib", "private_kib"}) {
      const double start = sum_over_nodes(figures, "start", kind);
      series.add("start/" + kind, start / nodes);
      series.add("one_pair/" + kind, sum_over_nodes(figures, "one_pair", kind) - start);
      series.add("all_pairs/" + kind, (sum_over_nodes(figures, "all_pairs", kind) - start) / all_pairs);
    }
  }
  Row& row = report.rows.emplace_back("nobody has talked");
  row.key("nodes", nodes).key("pairs", 0);
  row.figure("shared_per_node_kib", "shared, per node", series.at("start/shared_kib"));
  row.figure("private_per_node_kib", "private, per node", series.at("start/private_kib"));
  add_pairs(report, series, "1 pair of " + std::to_string(all_pairs) + " has talked", "one_pair", 1);
  add_pairs(report, series, "all " + std::to_string(all_pairs) + " pairs have talked", "all_pairs",
            all_pairs);
  return report;
}

}  // namespace

const Measure measure{
    .name = "memory",
    .meaning = "resident memory per connected pair of nodes",
    .least_nodes = 2,
    .measure = measure_memory,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::memory
