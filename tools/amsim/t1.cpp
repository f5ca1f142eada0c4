// `amsim t1`: what messages cost on the T1 and over the CNS-1's network (src/emulated_hw/t1), simulated cycle by cycle, beside what
// T. J. Callahan's report on the T1 says, and where it says nothing beside what the simulation is made of. The report's section is in
// brackets. What the report leaves open, and is assumed, is in docs/emulation.md.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "amsim/machines.hpp"
#include "amsim/t1/experiments.hpp"
#include "amsim/t1/program_costs.hpp"
#include "amsim/t1/stencil_step.hpp"
#include "amsim/trace_file.hpp"

namespace amsim::t1 {

namespace {

using namespace am::t1;

struct Length {
  const char* name;
  Send what;

  [[nodiscard]] unsigned words() const { return what.scalars + (what.vector ? most_vector : 0); }
};
const std::vector<Length> lengths{{"5 words", {.scalars = 5}}, {"37 words", {.scalars = 5, .vector = true}}};

double number(Cycle cycles) { return static_cast<double>(cycles); }
Row::Reference measured(double value) { return {.value = value}; }
Row::Reference measured(Cycle value) { return measured(number(value)); }

// -- on a processor

void add_message(Report& report) {
  Row& row = report.rows.emplace_back("a message, on the processors");
  row.key("what", "message").references("paper");
  for (const Length& length : lengths) {
    const std::string words = std::to_string(length.words());
    row.beside("send_" + words + "_cycles", std::string("SEND of ") + length.name + " (3.10)", {5, "~5"},
               number(message_costs(length.what).send));
  }
  Send multicast = lengths.back().what;
  multicast.multicast = true;
  row.beside("multicast_37_cycles", "MCST of 37 words (3.10)", {5, "~5"},
             number(message_costs(multicast).send));
  row.beside("failed_send_cycles", "SEND that is not accepted", {}, number(failed_send_cost(multicast)));
  const MessageCosts longest = message_costs(lengths.back().what);
  row.beside("dispatch_cycles", "dispatch to the handler's first instruction (3.8)", {4, "3-5"},
             number(longest.dispatch));
  row.beside("hret_cycles", "HRET", {}, number(longest.hret));
  row.beside("receive_cycles", "dispatch and HRET (3.10)", {5, "~5"},
             number(longest.dispatch + longest.hret));
  for (const Length& length : lengths) {
    const MessageCosts costs = message_costs(length.what);
    row.beside("overhead_" + std::to_string(length.words()) + "_cycles",
               std::string("SEND and dispatch, ") + length.name + " (2.2.1)", {10, "<10"},
               number(costs.send + costs.dispatch));
  }
  const MessageCosts short_one = message_costs(lengths.front().what);
  row.beside("cmam_cycles", "SEND and dispatch, 5 words, against CMAM on the CM-5 (2.2.1)", {100, "~100"},
             number(short_one.send + short_one.dispatch));
  row.beside("critical_section_cycles", "critical section entered and left (3.4: instructions)", {3, ""},
             number(critical_section_cost()));
  row.beside("poll_cycles", "poll that finds nothing (3.4: instructions)", {3, ""}, number(poll_cost()));
}

void add_programs(Report& report) {
  const ProgramCosts costs = program_costs();
  Row& row = report.rows.emplace_back("programs, with a neighbour");
  row.key("what", "programs").references("paper");
  const Row::Reference short_handler{10, "~10"};
  row.beside("put_handler_cycles", "handler of a Split-C put, which answers; all in all (3.9)", short_handler,
             number(costs.put_handler))
      .beside("done_handler_cycles", "handler of that answer (3.9)", short_handler,
              number(costs.done_handler))
      .beside("inlet_cycles", "TAM inlet (3.9)", short_handler, number(costs.inlet))
      .beside("posting_inlet_cycles", "TAM inlet that posts the first thread of a frame (3.9)", short_handler,
              number(costs.posting_inlet))
      .beside("put_cycles", "Split-C put and sync", {}, number(costs.put))
      .beside("get_cycles", "Split-C get and sync", {}, number(costs.get))
      .beside("fetch_and_add_cycles", "fetch and add", {}, number(costs.fetch_and_add))
      .beside("outlet_cycles", "outlet that sends 32 words in the background, all in all", {},
              number(costs.stolen_by_outlet));
}

void add_transfer(Row& row, const std::string& name, const std::string& label, const TransferCosts& software,
                  const TransferCosts& hardware) {
  const auto add = [&](const char* part, const char* what, Cycle by_software, Cycle by_hardware) {
    row.beside(name + "_" + part + "cycles", label + what, measured(by_software), number(by_hardware));
  };
  add("", " and sync", software.took, hardware.took);
  add("asking_", ": of the asker's processor, the call", software.asking, hardware.asking);
  add("answered_", ": of the asker's processor, handlers", software.answered, hardware.answered);
  add("stolen_", ": of the other's processor, handlers", software.stolen, hardware.stolen);
}

// "Unless it can be shown to result in at least a 1% overall improvement [...], it is not worth the trouble" (3.9).
void add_hardware_handlers(Report& report) {
  Row& row =
      report.rows.emplace_back("handlers in hardware, against the same by software; with a neighbour (3.9)");
  row.key("what", "hardware_handlers").references("software");
  constexpr Word block = 1024;
  for (const Word words : {Word{1}, Word{most_vector}, block})
    add_transfer(row, "get_" + std::to_string(words),
                 "get of " + std::to_string(words) + (words == 1 ? " word" : " words"),
                 get_costs(HandledBy::software, words), get_costs(HandledBy::hardware, words));
  add_transfer(row, "put_" + std::to_string(block), "put of " + std::to_string(block) + " words",
               put_costs(HandledBy::software, block), put_costs(HandledBy::hardware, block));
}

// -- over the network

struct Network {
  Mesh::Shape shape;

  [[nodiscard]] std::string size() const {
    return std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + (shape.wraps ? "" : "_open");
  }
  [[nodiscard]] std::string title() const {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
           (shape.wraps ? ", rows wrap" : ", no row wraps");
  }
  [[nodiscard]] Row row(const std::string& what, const std::string& title, const std::string& beside) const {
    Row row(title + "; " + this->title());
    row.key("what", what)
        .key("rows", shape.rows)
        .key("columns", shape.columns)
        .key("wraps", shape.wraps ? "yes" : "no")
        .key("buffers", shape.buffers)
        .key("patience", shape.patience)
        .references(beside);
    return row;
  }
  [[nodiscard]] Chart chart(const std::string& what, const std::string& title, const std::string& unit,
                            std::vector<std::string> columns) const {
    return {.name = "t1_" + what + "_" + size(),
            .title = title + "; " + this->title(),
            .unit = unit,
            .exact = true,
            .columns = std::move(columns),
            .rows = {}};
  }
};

std::vector<std::string> names_of_lengths() {
  std::vector<std::string> names;
  names.reserve(lengths.size());
  for (const Length& length : lengths) names.emplace_back(length.name);
  return names;
}

void add_round_trips(const Network& network, Report& report) {
  Row row = network.row("round_trip", "round trip, against the sum of its parts", "parts");
  Chart chart = network.chart("round_trip", "round trip, by hops each way", "cycles", names_of_lengths());
  const std::vector<NodeNumber> nodes = one_at_each_distance(network.shape);
  for (unsigned hops = 1; hops <= nodes.size(); ++hops) {
    Chart::Row& bars = chart.rows.emplace_back(Chart::Row{std::to_string(hops), {}});
    for (const Length& length : lengths) {
      const Cycle took = round_trip(network.shape, nodes[hops - 1], length.what);
      row.beside("hops_" + std::to_string(hops) + "_words_" + std::to_string(length.words()) + "_cycles",
                 plural(hops, "hop") + ", " + length.name, measured(round_trip_parts(hops, length.what)),
                 number(took));
      bars.cells.emplace_back(exactly(number(took)));
    }
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

// What takes longest of a message: to send it, its flits on a link, to dispatch it and to return.
Cycle slowest_part(const Send& what) {
  return std::max<Cycle>({costs::send, flits_of(what), costs::dispatch + costs::hret});
}

void add_floods(const Network& network, Report& report) {
  Row row = network.row("flood", "flood, against its slowest part", "bound");
  Chart cycles = network.chart("flood", "flood: cycles per message, by hops", "cycles", names_of_lengths());
  Chart flits =
      network.chart("flood_flits", "flood: flits per cycle, by hops", "flits per cycle", names_of_lengths());
  const std::vector<NodeNumber> nodes = one_at_each_distance(network.shape);
  for (unsigned hops = 1; hops <= nodes.size(); ++hops) {
    cycles.rows.push_back({std::to_string(hops), {}});
    flits.rows.push_back({std::to_string(hops), {}});
    for (const Length& length : lengths) {
      const Flood flood = amsim::t1::flood(network.shape, nodes[hops - 1], length.what);
      const double bound = number(slowest_part(length.what));
      const std::string name = "hops_" + std::to_string(hops) + "_words_" + std::to_string(length.words());
      const std::string label = plural(hops, "hop") + ", " + length.name;
      row.beside(name + "_cycles", label + ": a message each", measured(bound), flood.cycles_per_message);
      row.beside(name + "_flits_per_cycle", label, measured(flits_of(length.what) / bound),
                 flood.flits_per_cycle);
      cycles.rows.back().cells.emplace_back(exactly(flood.cycles_per_message));
      flits.rows.back().cells.emplace_back(exactly(flood.flits_per_cycle));
    }
  }
  report.rows.push_back(std::move(row));
  for (Chart* chart : {&cycles, &flits}) report.charts.push_back(std::move(*chart));
}

// -- to many

// How far one multicast goes along a row.
unsigned reach(const Mesh::Shape& shape) { return shape.wraps ? shape.columns / 2 : shape.columns - 1; }

void add_against_sends(Row& cycles, Row& flits, const std::string& name, const std::string& label,
                       const Distribution& sends, const Distribution& multicast) {
  cycles.beside(name + "_cycles", label, measured(sends.took), number(multicast.took));
  flits.beside(name + "_flits", label, measured(number(sends.flits)), number(multicast.flits));
}

// By the report, 3.9, a multicast "takes only as long as it would take to send a unicast message to the far node".
void add_multicasts(const Network& network, Report& report) {
  const Mesh::Shape& shape = network.shape;
  Row against_unicast =
      network.row("row", "multicast along a row, against a message to its end (3.9)", "unicast");
  Row cycles = network.row("row_sends", "the same, against a message to each", "sends");
  Row flits = network.row("row_flits", "the same: flits over links", "sends");
  Chart chart = network.chart("multicast_row", "37 words to nodes along a row, by how many", "cycles",
                              {"a message to each", "multicast"});
  for (unsigned nodes = 1; nodes <= reach(shape); ++nodes) {
    const Patch line{.rows = 1, .columns = nodes + 1};
    for (const Length& length : lengths) {
      const Distribution all = multicast(shape, line, length.what);
      const Distribution sends = send_to_each(shape, line, length.what);
      const std::string name = "nodes_" + std::to_string(nodes) + "_words_" + std::to_string(length.words());
      const std::string label = plural(nodes, "node") + ", " + length.name;
      against_unicast.beside(name + "_cycles", label, measured(one_way(shape, nodes, length.what)),
                             number(all.took));
      add_against_sends(cycles, flits, name, label, sends, all);
      if (length.what.vector)
        chart.rows.push_back(
            {std::to_string(nodes), {exactly(number(sends.took)), exactly(number(all.took))}});
    }
  }
  if (shape.wraps && shape.columns > 1) {
    const Patch ring{.rows = 1, .columns = shape.columns};
    for (const Length& length : lengths) {
      const Distribution sends = send_to_each(shape, ring, length.what);
      const std::string name = "_words_" + std::to_string(length.words());
      add_against_sends(cycles, flits, "both_ways" + name,
                        std::string("the ring, one each way, ") + length.name, sends,
                        multicast(shape, ring, length.what));
      add_against_sends(cycles, flits, "round" + name,
                        std::string("the ring, all the way round, ") + length.name, sends,
                        multicast_round(shape, length.what));
    }
  }
  for (Row* row : {&against_unicast, &cycles, &flits}) report.rows.push_back(std::move(*row));
  report.charts.push_back(std::move(chart));
}

// Squares as far as there are, and everything.
std::vector<Patch> patches_of(const Mesh::Shape& shape) {
  std::vector<Patch> patches;
  for (unsigned side = 2; side <= std::min(shape.rows, reach(shape) + 1); ++side)
    patches.push_back({side, side});
  if (patches.empty() || patches.back().rows != shape.rows || patches.back().columns != shape.columns)
    patches.push_back({shape.rows, shape.columns});
  return patches;
}

void add_patches(const Network& network, Report& report) {
  if (network.shape.rows < 2 || network.shape.columns < 2) return;
  Row cycles = network.row("patch", "multicast to a patch in two phases (Figure 9), against sends", "sends");
  Row flits = network.row("patch_flits", "the same: flits over links", "sends");
  Chart chart = network.chart("multicast_patch", "37 words to a patch in two phases, by its size", "cycles",
                              {"a message to each", "multicast"});
  for (const Patch& patch : patches_of(network.shape)) {
    const std::string size = std::to_string(patch.rows) + " x " + std::to_string(patch.columns);
    for (const Length& length : lengths) {
      const Distribution sends = send_to_each(network.shape, patch, length.what);
      const Distribution all = multicast(network.shape, patch, length.what);
      add_against_sends(cycles, flits,
                        "patch_" + std::to_string(patch.rows) + "x" + std::to_string(patch.columns) +
                            "_words_" + std::to_string(length.words()),
                        size + ", " + length.name, sends, all);
      if (length.what.vector)
        chart.rows.push_back({size, {exactly(number(sends.took)), exactly(number(all.took))}});
    }
  }
  for (Row* row : {&cycles, &flits}) report.rows.push_back(std::move(*row));
  report.charts.push_back(std::move(chart));
}

std::vector<Network> networks_of(const Parameters& parameters) {
  const std::vector<bool> wraps = parameters["wraps"].answers();
  const auto buffers = parameters["buffers"].number<unsigned>();
  const auto patience = parameters["patience"].number<unsigned>();
  std::vector<Network> networks;
  for (const unsigned rows : parameters["rows"].numbers<unsigned>()) {
    for (const unsigned columns : parameters["columns"].numbers<unsigned>()) {
      for (const bool row_wraps : wraps)
        networks.push_back({{.rows = rows,
                             .columns = columns,
                             .wraps = row_wraps,
                             .buffers = buffers,
                             .patience = patience}});
    }
  }
  return networks;
}

// Not what is measured, in which most nodes have nothing to do.
void trace_stencil_step(const Network& network, const std::string& file, Report& report) {
  am::t1::Machine machine(network.shape);
  am::kit::Trace trace(machine.mesh().grid());
  trace.names = trace_names("T1s on " + network.title() + ": one step of a computation on a grid");
  machine.record(&trace);
  run_stencil_step(machine, network.shape);
  trace.ends(machine.now());
  write_trace(file, trace, report);
}

Report simulate(const Options& options) {
  const std::vector<Network> networks = networks_of(options.parameters);
  Report report = report_of(options);
  report.remarks.emplace_back(
      "SEND, dispatch and HRET are what it is given, from the report; all else follows from these and from "
      "docs/emulation.md");
  for (const Network& network : networks) {
    if (one_at_each_distance(network.shape).empty())
      throw UsageError("t1 takes a mesh of 2 nodes at least: rows=1 columns=1 has no network");
  }
  trace_the_only(options, networks, "each of rows, columns and wraps",
                 [&](const Network& network) { trace_stencil_step(network, options.trace_file, report); });
  add_message(report);
  add_programs(report);
  add_hardware_handlers(report);
  for_each_machine(options, networks, [&](const Network& network) {
    add_round_trips(network, report);
    add_floods(network, report);
    if (network.shape.columns > 1) add_multicasts(network, report);
    add_patches(network, report);
  });
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "t1",
    .meaning = "what messages cost on the T1 and over its network, in cycles, beside its report's",
    .run = simulate,
    .has_trace = true,
    .parameters = {{"rows", "8", "nodes [list]"},
                   {"columns", "8", "nodes [list]"},
                   {"wraps", "yes", "whether rows are rings: yes or no [list]"},
                   {"buffers", "4", "messages in each channel"},
                   {"patience", "16", "losses until a low message goes before high ones"}},
};

}  // namespace amsim::t1
