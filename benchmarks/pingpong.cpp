// `ambench pingpong`: a request and its reply, half of the time between sending the one and handling the
// other. 8 bytes are an argument; longer ones are payload, which goes there and comes back. Both nodes wait
// in Node::wait_until, as a program does.
//
// Every repetition is a new job, so that no lucky or unlucky place in memory stands for all; right after it,
// on the same two cores, the limit of that transport (limits/) and, with --compare, the neighbours.

#include <am/am.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include "job.hpp"
#include "limits/limit.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"

namespace ambench::pingpong {

namespace {

constexpr std::array<std::size_t, 7> sizes{8, 64, 256, 1024, 4096, 16384, 65536};

struct State {
  std::uint64_t replies = 0;
  bool stopped = false;

  void ask(am::Request& request, std::uint64_t word) { request.reply<&State::answer>(word); }
  void answer(am::Reply&, std::uint64_t) { ++replies; }
  void ask_with(am::Request& request, am::Payload payload) { request.reply<&State::answer_with>(payload); }
  void answer_with(am::Reply&, am::Payload) { ++replies; }
  void stop(am::Request&) { stopped = true; }
};

class Asker {
 public:
  Asker(am::Node& node, State& state, std::size_t bytes) : node_(node), state_(state), payload_(bytes) {}

  double half_rtt_ns() {
    constexpr int count = 100;
    const auto batch = [&] { round_trips(count); };
    (void)median_batch_ns(batch, warm_up_ns);
    return median_batch_ns(batch) / (2.0 * count);
  }

 private:
  void round_trips(int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t expected = state_.replies + 1;
      send(expected);
      node_.wait_until([&] { return state_.replies == expected; });
    }
  }

  void send(std::uint64_t word) {
    if (payload_.size() == sizeof word) {
      node_.request<&State::ask>(1, word);
      return;
    }
    node_.request<&State::ask_with>(1, payload_);
  }

  am::Node& node_;
  State& state_;
  std::vector<std::byte> payload_;
};

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    for (const std::size_t bytes : sizes) {
      say_figure(std::to_string(bytes) + "/half_rtt_ns", Asker(node, state, bytes).half_rtt_ns());
    }
    node.request<&State::stop>(1);
  } else {
    node.wait_until([&] { return state.stopped; });
  }
  node.barrier();
}

void ask_peers(Peers& peers, CorePair cores, Series& series) {
  peers.ask_openmpi("pingpong", sizes, series);
  peers.with_ucx("ucx_uct_am", [&](const Ucx& ucx) {
    series.add("8/ucx_uct_am_half_rtt_ns", ucx.uct_am_half_rtt_ns(cores, 8));
  });
  peers.with_ucx("ucx_tag", [&](const Ucx& ucx) {
    series.add("8/ucx_tag_half_rtt_ns", ucx.ucp_tag_half_rtt_ns(cores, 8));
  });
  peers.with_ucx("ucx_am", [&](const Ucx& ucx) {
    for (const std::size_t bytes : sizes) {
      series.add(std::to_string(bytes) + "/ucx_am_half_rtt_ns", ucx.ucp_am_half_rtt_ns(cores, bytes));
    }
  });
}

Report measure_pingpong(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Wire wire = wire_of(options.transport);
  const Limit limit(wire);
  Peers peers(options.compare ? Peers::Who::openmpi_and_ucx : Peers::Who::nobody, wire);
  const Series series = measure_pairs(measure, options, report, [&](CorePair cores, Series& beside) {
    beside.add("8/limit_half_rtt_ns", limit.half_rtt_ns(cores));
    if (limit.knows_sleepers()) beside.add("8/sleepers_half_rtt_ns", limit.sleepers_half_rtt_ns(cores));
    if (is_emulated(options)) ask_shared_memory(measure, beside);
    ask_peers(peers, cores, beside);
  });
  peers.describe(report);
  const bool beside_others = report.pinned();
  if (!beside_others) report.remarks.push_back(nothing_beside_unbound);
  for (const std::size_t bytes : sizes) {
    const std::string prefix = std::to_string(bytes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(bytes) + " bytes, half round trip");
    row.key("bytes", bytes);
    row.figure("half_rtt_ns", "libam", series.at(prefix + "half_rtt_ns"));
    if (!beside_others) continue;
    if (bytes == 8) compare(row, series, prefix, "half_rtt_ns", "limit", limit.half_rtt_label());
    if (bytes == 8 && limit.knows_sleepers())
      compare(row, series, prefix, "half_rtt_ns", "sleepers", limit.sleepers_half_rtt_label());
    if (is_emulated(options)) compare(row, series, prefix, "half_rtt_ns", "shm", "libam over shared memory");
    peers.compare(row, series, prefix, "half_rtt_ns", "openmpi", "Open MPI");
    if (bytes == 8) peers.compare(row, series, prefix, "half_rtt_ns", "ucx_uct_am", "UCX, UCT am short");
    peers.compare(row, series, prefix, "half_rtt_ns", "ucx_am", "UCX, UCP am");
    if (bytes == 8) peers.compare(row, series, prefix, "half_rtt_ns", "ucx_tag", "UCX, UCP tag");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "pingpong",
    .meaning = "half round trip of a request and its reply",
    .can_compare = true,
    .measure = measure_pingpong,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::pingpong
