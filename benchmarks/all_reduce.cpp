// `ambench all-reduce`: the time of one all_reduce, the sum of 64-bit words, called in a loop by two nodes: one word, and ranges
// that every node replaces by their sums. Open MPI does the same, in place.

#include <am/am.hpp>
#include <am/collectives.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "together.hpp"

namespace ambench::all_reduce {

namespace {

constexpr std::array<std::size_t, 5> sizes{8, 1024, 16384, 131072, 1048576};

double all_reduce_us(am::Node& node, std::size_t bytes) {
  std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t), 1);
  if (values.size() == 1)
    return median_call_us(node, [&] { values[0] = am::all_reduce(node, values[0], std::plus<>()); });
  return median_call_us(node, [&] { am::all_reduce(node, std::span(values), std::plus<>()); });
}

void run_node(am::Node& node, std::span<const std::string>) {
  say_place(node);
  node.barrier();
  for (const std::size_t bytes : sizes) {
    const double time_us = all_reduce_us(node, bytes);
    if (node.id() == 0) say_figure(std::to_string(bytes) + "/all_reduce_us", time_us);
  }
  node.barrier();
}

Report measure_all_reduce(const Options& options) {
  Report report = report_of(measure, options, 2);
  Peers peers(options.compare ? Peers::Who::openmpi : Peers::Who::nobody, wire_of(options.transport));
  const Series series = measure_pairs(measure, options, report, [&](CorePair, Series& beside) {
    peers.ask_openmpi("all_reduce", sizes, beside);
  });
  peers.describe(report);
  for (const std::size_t bytes : sizes) {
    const std::string prefix = std::to_string(bytes) + "/";
    Row& row = report.rows.emplace_back(std::to_string(bytes) + " bytes, one all_reduce of 2 nodes");
    row.key("bytes", bytes).figure("all_reduce_us", "libam", series.at(prefix + "all_reduce_us"));
    if (report.pinned()) peers.compare(row, series, prefix, "all_reduce_us", "openmpi", "Open MPI");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "all-reduce",
    .meaning = "time of one all_reduce of 2 nodes",
    .can_compare = true,
    .measure = measure_all_reduce,
    .run_node = run_node,
};

}  // namespace ambench::all_reduce
