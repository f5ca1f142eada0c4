// `ambench idle-peers`: the ping-pong of 8 bytes between nodes 0 and 1 while all others are connected with
// both and sleep; in turn with a job of two. Both poll in a loop of their own: in a job of more nodes than
// cores wait_until would rightly yield, which is not the question here.

#include <am/am.hpp>

#include <cstdint>

#include "job.hpp"
#include "measure.hpp"
#include "results/progress.hpp"
#include "sleepers.hpp"
#include "timing.hpp"

namespace ambench::idle_peers {

namespace {

struct State {
  std::uint64_t replies = 0;
  bool stopped = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply<&State::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++replies; }
  void stop(am::Request&) { stopped = true; }
};

void round_trips(am::Node& node, State& state, int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t expected = state.replies + 1;
    node.request<&State::ask>(1, expected);
    while (state.replies != expected) node.poll();
  }
}

double half_rtt_ns(am::Node& node, State& state) {
  constexpr int count = 100;
  const auto batch = [&] { round_trips(node, state, count); };
  (void)median_batch_ns(batch, warm_up_ns);
  return median_batch_ns(batch) / (2.0 * count);
}

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  const auto measure = [&] {
    say_figure("half_rtt_ns", half_rtt_ns(node, state));
    node.request<&State::stop>(1);
  };
  const auto serve = [&] {
    while (!state.stopped) node.poll();
  };
  run_with_others_asleep(node, measure, serve);
}

Report measure_idle_peers(const Options& options) {
  const int nodes = options.nodes != 0 ? options.nodes : 128;
  Report report = report_of(measure, options, nodes);
  Series series;
  Progress progress("idle-peers", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished job = run_job("idle-peers", nodes);
    report.cpus = job.cpus();
    series.add("half_rtt_ns", job.figures().at("half_rtt_ns"));
    series.add("alone_half_rtt_ns", run_job("idle-peers", 2).figures().at("half_rtt_ns"));
  }
  const std::string sleeping = std::to_string(nodes - 2) + " connected peers asleep";
  Row& row = report.rows.emplace_back("8 bytes, half round trip");
  row.key("bytes", 8).key("nodes", nodes);
  row.figure("half_rtt_ns", sleeping, series.at("half_rtt_ns"));
  row.figure("alone_half_rtt_ns", "none", series.at("alone_half_rtt_ns"));
  row.figure("to_alone_ratio", "with / without",
             ratios(series.at("half_rtt_ns"), series.at("alone_half_rtt_ns")));
  return report;
}

}  // namespace

const Measure measure{
    .name = "idle-peers",
    .meaning = "ping-pong while the other nodes of the job are connected and sleep",
    .least_nodes = 3,
    .measure = measure_idle_peers,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::idle_peers
