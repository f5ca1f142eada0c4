// `ambench multicast`: a word from node 0 to all others, by one multicast and by a message to each, until every one of them has
// answered: 8 nodes, which share the cores where the machine has fewer. Over an emulated network beside the same over shared memory,
// where a multicast goes down a tree.

#include <am/am.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "results/progress.hpp"
#include "timing.hpp"

namespace ambench::multicasts {

namespace {

struct State {
  std::uint64_t answers = 0;
  bool ended = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply_to<&State::answer>(0, word); }
  void answer(am::Reply&, std::uint64_t) { ++answers; }
  void end(am::Request&) { ended = true; }
};

// Of one round: send() to all others, and their answers.
template <typename F>
double round_us(am::Node& node, State& state, F&& send) {
  constexpr int rounds = 20;
  const auto batch = [&] {
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t all = state.answers + node.size() - 1;
      send();
      node.wait_until([&] { return state.answers == all; });
    }
  };
  (void)median_batch_ns(batch, warm_up_ns);
  return median_batch_ns(batch) / (1e3 * rounds);
}

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    const am::Group others = am::Group::all(node).without(0);
    say_figure("multicast_us", round_us(node, state, [&] { node.multicast<&State::ask>(others, 7); }));
    say_figure("messages_us", round_us(node, state, [&] {
                 for (const am::NodeId to : others.members()) node.request<&State::ask>(to, 7);
               }));
    node.multicast<&State::end>(others);
  } else {
    node.wait_until([&] { return state.ended; });
  }
  node.barrier();
}

Report measure_multicast(const Options& options) {
  const int nodes = options.nodes != 0 ? options.nodes : 8;
  Report report = report_of(measure, options, nodes);
  Series series;
  Progress progress(measure.name, options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished job = run_job(measure.name, nodes);
    report.cpus = job.cpus();
    series.add(job.figures());
    if (is_emulated(options)) ask_shared_memory(measure, series, nodes);
  }
  for (const auto& [name, meaning] :
       {std::pair{"multicast_us", "one multicast"}, {"messages_us", "a message to each"}}) {
    Row& row = report.rows.emplace_back("to " + std::to_string(nodes - 1) + " nodes and back, by " + meaning);
    row.key("by", meaning);
    row.figure(name, "libam", series.at(name));
    if (is_emulated(options)) compare(row, series, "", name, "shm", "libam over shared memory");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "multicast",
    .meaning = "a multicast to all others, until they have answered",
    .least_nodes = 2,
    .measure = measure_multicast,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::multicasts
