// `ambench hops`: what a hop costs a thread that is alone; and the ping-pong of 8 bytes through the emulated network of the T1, in a ring of
// nodes, or of the nCUBE/2, by the number of links on the way, or of the CM-5, by the number of routers. All but the two who talk sleep, so the routers on the way are stepped by
// these two alone. Partners are odd nodes: on two cores, every one of them is bound to the other core than node 0 is.

#include <am/am.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "one_hop.hpp"
#include "results/progress.hpp"
#include "results/usage_error.hpp"
#include "timing.hpp"

namespace ambench::hops {

namespace {

constexpr double falling_asleep_ns = 30e6;

struct State {
  std::uint64_t replies = 0;
  bool serves = false;
  bool ended = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply<&State::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++replies; }
  void serve(am::Request&) { serves = true; }
  void rest(am::Request&) { serves = false; }
  void end(am::Request&) { ended = true; }
};

/// Links to partners of node 0: one or an odd number along a ring of so many nodes, up to half of it; or one or more across a cube; or
/// routers up and down a tree.
struct Partners {
  std::string shape = "ring";
  am::NodeId nodes = 0;

  [[nodiscard]] std::vector<unsigned> links() const {
    std::vector<unsigned> all;
    for (unsigned links = 1; partner(links) < nodes && (shape != "ring" || links <= nodes / 2);
         links += shape == "cube" ? 1 : 2)
      all.push_back(links);
    return all;
  }
  [[nodiscard]] am::NodeId partner(unsigned links) const {
    if (shape == "tree") return links == 1 ? 1 : (1u << (links - 1)) + 1;
    return shape == "cube" ? (1u << links) - 1 : links;
  }
};
/// Of a network's name.
std::string shape_of(const std::string& transport) {
  return transport == "ncube2" ? "cube" : transport == "cm5" ? "tree" : "ring";
}

double half_rtt_ns(am::Node& node, const State& state, am::NodeId partner) {
  constexpr int count = 100;
  const auto batch = [&] {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t expected = state.replies + 1;
      node.request<&State::ask>(partner, expected);
      while (state.replies != expected) node.poll();
    }
  };
  (void)median_batch_ns(batch, warm_up_ns);
  return median_batch_ns(batch) / (2.0 * count);
}

void run_node(am::Node& node, std::span<const std::string> arguments) {
  const Partners partners{.shape = arguments.front(), .nodes = node.size()};
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() != 0) {
    while (!state.ended) {
      node.wait_until([&] { return state.serves || state.ended; });
      while (state.serves) node.poll();
    }
  } else {
    for (const double end = now_ns() + falling_asleep_ns; now_ns() < end;) node.poll();
    for (const unsigned links : partners.links()) {
      const am::NodeId partner = partners.partner(links);
      node.request<&State::serve>(partner);
      say_figure(std::to_string(links) + "/half_rtt_ns", half_rtt_ns(node, state, partner));
      node.request<&State::rest>(partner);
    }
    for (am::NodeId other = 1; other < node.size(); ++other) node.request<&State::end>(other);
  }
  node.barrier();
}

Report measure_hops(const Options& options) {
  const int nodes = options.nodes != 0 ? options.nodes : 16;
  const Partners partners{.shape = shape_of(options.transport), .nodes = static_cast<am::NodeId>(nodes)};
  const bool in_ring = partners.shape == "ring";
  const std::string ring = options.transport == "shm" ? "t1" : options.transport;
  if (in_ring && ring != "t1" && ring != "iwarp" && ring != "care")
    throw UsageError("hops goes through routers: --transport t1, ncube2, cm5, iwarp or care");
  Report report = report_of(measure, options, nodes);
  report.transport = in_ring ? ring + ":1x" + std::to_string(nodes) : options.transport;
  const std::vector<std::string> arguments{partners.shape};
  Series series;
  Progress progress(measure.name, options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    const Finished job =
        run_job(measure.name, nodes, arguments, {.environment = {"AM_TRANSPORT=" + report.transport}});
    report.cpus = job.cpus();
    Figures figures = job.figures();
    for (const unsigned links : partners.links()) {
      if (links == 1) continue;
      const std::string prefix = std::to_string(links) + "/";
      figures[prefix + "per_hop_ns"] =
          (figures.at(prefix + "half_rtt_ns") - figures.at("1/half_rtt_ns")) / (links - 1);
    }
    figures["alone/hop_ns"] = live_hop_ns();
    if (const auto queue = spsc_queue_ns()) figures["alone/spsc_queue_ns"] = *queue;
    series.add(figures);
  }
  Row& alone = report.rows.emplace_back("a hop, by one thread alone");
  alone.key("links", 0);
  alone.figure("hop_ns", "through a live router", series.at("alone/hop_ns"));
  if (series.has("alone/spsc_queue_ns")) {
    alone.figure("spsc_queue_ns", "boost::lockfree::spsc_queue", series.at("alone/spsc_queue_ns"));
  } else {
    alone.note("spsc_queue_ns", "boost::lockfree::spsc_queue", "not measured: no Boost at the build");
  }
  for (const unsigned links : partners.links()) {
    const std::string prefix = std::to_string(links) + "/";
    Row& row = report.rows.emplace_back(std::to_string(links) + (links == 1 ? " link" : " links") +
                                        ", half round trip");
    row.key("links", static_cast<int>(links));
    row.figure("half_rtt_ns", "libam", series.at(prefix + "half_rtt_ns"));
    if (links != 1) row.figure("per_hop_ns", "each further link", series.at(prefix + "per_hop_ns"));
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "hops",
    .meaning =
        "ping-pong through an emulated network, t1, ncube2, cm5, iwarp or care, by the number of links",
    .least_nodes = 2,
    .measure = measure_hops,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::hops
