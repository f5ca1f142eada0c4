// `amsim cm5`: what CMAM's active message of five words costs a CM-5 node (src/emulated_hw/cm5), beside the hundred cycles that the T1 report
// (2.2.1) has for it; and what it and its answer take, by the levels of the tree that they climb, where nothing is in their way.

#include <memory>
#include <string>
#include <vector>

#include "amsim/machines.hpp"
#include "amsim/trace_file.hpp"
#include "emulated_hw/cm5/programs/ping.hpp"

namespace amsim::cm5 {

namespace {

using am::cm5::NodeNumber;
using am::cm5::ping;
using am::cm5::PingTimes;
using am::cm5::Tree;

constexpr NodeNumber most_nodes_of_trace = 256;  // a picture of more nodes shows nothing

void add_costs(Report& report) {
  const am::cm5::MessageCosts costs = am::cm5::message_costs();
  Row row("a handler and four words, by CMAM, cycles of the SPARC");
  row.key("words", 5).references("paper");
  row.beside("send_cycles", "a send", {}, costs.send);
  row.beside("poll_cycles", "a poll that finds one, and runs its handler", {}, costs.poll);
  row.beside("both_cycles", "both: send, receive, dispatch (T1 report, 2.2.1)",
             {.value = 100, .text = "~100"}, costs.send + costs.poll);
  row.beside("empty_poll_cycles", "a poll that finds nothing", {}, costs.empty_poll);
  row.beside("refused_cycles", "a send that is dropped: until it begins anew", {}, costs.refused);
  report.rows.push_back(std::move(row));
}

// The first node that is so many levels away from node 0.
NodeNumber node_at(unsigned levels) { return NodeNumber{1} << 2 * (levels - 1); }

void add_levels(NodeNumber nodes, Report& report) {
  const std::string size = std::to_string(nodes);
  Row row("to a node and back, on " + size + " nodes, cycles of 25 ns");
  row.key("nodes", nodes).references("sum");
  Chart chart{.name = "cm5_" + size,
              .title = "CM-5 of " + size + " nodes: an active message of five words, by levels of the tree",
              .unit = "cycles",
              .exact = true,
              .columns = {"call to handler", "call to the answer's handler"},
              .rows = {}};
  PingTimes first;
  for (unsigned levels = 1; levels <= Tree(nodes).levels(); ++levels) {
    const PingTimes times = ping(nodes, 0, node_at(levels));
    if (levels == 1) first = times;
    using am::cm5::latency, am::cm5::most_words;
    const auto further = latency(most_words, levels) - latency(most_words, 1);
    const auto there = static_cast<double>(times.handled);
    const auto both = static_cast<double>(times.answered);
    const std::string name = "levels_" + std::to_string(levels);
    const std::string label = plural(levels, "level");
    row.beside(name + "_latency_cycles", label + ", call to handler",
               {.value = static_cast<double>(first.handled + further)}, there);
    row.beside(name + "_round_trip_cycles", label + ", and an answer back",
               {.value = static_cast<double>(first.answered + 2 * further)}, both);
    chart.rows.push_back({label, {exactly(there), exactly(both)}});
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

void trace_ping(NodeNumber nodes, const std::string& file, Report& report) {
  if (nodes > most_nodes_of_trace)
    throw UsageError("--trace: a machine of at most " + std::to_string(most_nodes_of_trace) + " nodes");
  am::kit::Trace trace{Tree(nodes).shape()};
  trace.names = am::cm5::trace_names("an active message to the farthest node, and its answer");
  (void)ping(nodes, 0, nodes - 1, &trace);
  write_trace(file, trace, report);
}

Report simulate(const Options& options) {
  const std::vector<NodeNumber> machines = sizes(options.parameters, "nodes", 2, Tree::most_nodes);
  Report report = report_of(options);
  report.remarks.emplace_back("nodes poll: a message is found up to one empty poll after it has come");
  trace_the_only(options, machines, "of nodes",
                 [&](NodeNumber nodes) { trace_ping(nodes, options.trace_file, report); });
  add_costs(report);
  for_each_machine(options, machines, [&](NodeNumber nodes) { add_levels(nodes, report); });
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "cm5",
    .meaning = "what an active message costs and takes on the CM-5, in cycles, by levels of its tree",
    .run = simulate,
    .has_trace = true,
    .parameters = {{"nodes", "256", "of the machine, 2 to 1024 [list]"}},
};

}  // namespace amsim::cm5
