// `ambench flood`: one-way rate of 8-byte requests: node 0 sends without a pause, node 1 handles. The time
// ends when node 0 knows that the last one was handled.
//
// Every repetition is a new job; right after it, on the same two cores, the limit of that transport (limits/) and, with
// --compare, the neighbours.

#include <am/am.hpp>

#include <cstdint>

#include "job.hpp"
#include "limits/limit.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"

namespace ambench::flood {

namespace {

struct State {
  std::uint64_t handled = 0;
  std::uint64_t sum = 0;
  std::uint64_t handled_there = 0;
  bool stopped = false;

  void take(am::Request&, std::uint64_t word) {
    ++handled;
    sum += word;
  }
  void how_many(am::Request& request) { request.reply<&State::that_many>(handled); }
  void that_many(am::Reply&, std::uint64_t count) { handled_there = count; }
  void stop(am::Request&) { stopped = true; }
};

class Sender {
 public:
  Sender(am::Node& node, State& state) : node_(node), state_(state) {}

  // Million/s, over `time_ns`. Returns when the last one was handled.
  double send_for(double time_ns) {
    constexpr std::uint64_t messages = 16384;  // many times around any ring
    const double batch_ns = median_batch_ns(
        [&] {
          for (std::uint64_t i = 0; i < messages; ++i) node_.request<&State::take>(1, i);
          sent_ += messages;
        },
        time_ns);
    node_.request<&State::how_many>(1);
    node_.wait_until([&] { return state_.handled_there == sent_; });
    return messages * 1e3 / batch_ns;
  }

 private:
  am::Node& node_;
  State& state_;
  std::uint64_t sent_ = 0;
};

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    Sender sender(node, state);
    (void)sender.send_for(warm_up_ns);
    say_figure("rate_million_per_s", sender.send_for(min_time_ns));
    node.request<&State::stop>(1);
  } else {
    node.wait_until([&] { return state.stopped; });
  }
  node.barrier();
}

void ask_peers(Peers& peers, CorePair cores, Series& series) {
  peers.with_openmpi([&](const OpenMpi& openmpi) {
    series.add("openmpi_rate_million_per_s", openmpi.run("flood", 2).figures().at("rate_million_per_s"));
  });
  peers.with_ucx("ucx_uct_am", [&](const Ucx& ucx) {
    series.add("ucx_uct_am_rate_million_per_s", ucx.uct_am_million_per_s(cores));
  });
  peers.with_ucx("ucx_tag", [&](const Ucx& ucx) {
    series.add("ucx_tag_rate_million_per_s", ucx.ucp_tag_million_per_s(cores));
  });
}

Report measure_flood(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Wire wire = wire_of(options.transport);
  const Limit limit(wire);
  Peers peers(options.compare ? Peers::Who::openmpi_and_ucx : Peers::Who::nobody, wire);
  const Series series = measure_pairs(measure, options, report, [&](CorePair cores, Series& beside) {
    beside.add("limit_rate_million_per_s", limit.million_per_s(cores));
    if (is_emulated(options)) ask_shared_memory(measure, beside);
    ask_peers(peers, cores, beside);
  });
  peers.describe(report);
  Row& row = report.rows.emplace_back("8 bytes, one way");
  row.key("bytes", 8);
  row.figure("rate_million_per_s", "libam", series.at("rate_million_per_s"));
  if (!report.pinned()) {
    report.remarks.push_back(nothing_beside_unbound);
    return report;
  }
  compare(row, series, "", "rate_million_per_s", "limit", limit.rate_label());
  if (is_emulated(options)) compare(row, series, "", "rate_million_per_s", "shm", "libam over shared memory");
  peers.compare(row, series, "", "rate_million_per_s", "openmpi", "Open MPI");
  peers.compare(row, series, "", "rate_million_per_s", "ucx_uct_am", "UCX, UCT am short");
  peers.compare(row, series, "", "rate_million_per_s", "ucx_tag", "UCX, UCP tag");
  return report;
}

}  // namespace

const Measure measure{
    .name = "flood",
    .meaning = "one-way rate of 8-byte requests",
    .can_compare = true,
    .measure = measure_flood,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::flood
