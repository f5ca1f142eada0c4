// What no paper could compare: four machines, one source each (src/emulated_hw/across), in cycles of their processors, and in nanoseconds where their
// papers give a clock. And von Eicken's four issues (1993, 3.3), measured on them.

#include <am/logp/fit.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amsim/papers/four_issues.hpp"
#include "amsim/papers/sections.hpp"
#include "emulated_hw/across/programs.hpp"
#include "emulated_hw/cm5/network.hpp"

namespace amsim {

namespace {

using namespace am::across;

constexpr NodeNumber nodes = 16;

double number(Cycle cycles) { return static_cast<double>(cycles); }

void add_time(Row& row, const Kind& kind, const std::string& name, const std::string& label, double cycles) {
  row.beside(name + "_cycles", label, {}, cycles);
  if (kind.cycle_ns > 0) row.beside(name + "_ns", "  of its clock", {}, cycles * kind.cycle_ns);
}

// As Culler and others measure it: am/logp/fit.hpp. Bytes are of a block's words.
am::logp::Network logp_of(const Kind& kind) {
  am::logp::Samples samples;
  for (const unsigned words : {0u, 64u, 256u, 1024u})
    samples.round_trips.push_back({4.0 * words, 2 * half_round_trip(kind.name, words)});
  const auto trip = static_cast<unsigned>(samples.round_trips.front().time) + 1;
  for (const unsigned requests : {1u, 2u, 16u, 32u, 64u, 128u})
    samples.bursts.push_back({static_cast<double>(requests), 0, number(burst(kind.name, requests, 0))});
  for (const unsigned requests : {8u, 16u, 32u}) {
    for (const unsigned delay : {2 * trip, 4 * trip})
      samples.bursts.push_back({static_cast<double>(requests), static_cast<double>(delay),
                                number(burst(kind.name, requests, delay))});
  }
  return am::logp::fit(samples);
}

void add_logp(const Kind& kind, Row& row) {
  const am::logp::Network network = logp_of(kind);
  for (const auto& [name, label, value] :
       {std::tuple{"o_send", "LogP: o_send", network.o_send},
        {"o_recv", "  o_recv", network.o_recv},
        {"latency", "  L", network.latency},
        {"gap", "  g", network.gap},
        {"gap_per_byte", "  G, of a byte of a block", network.gap_per_byte}})
    row.beside(std::string(name) + "_cycles", label, {}, value);
}

void add_machines(Report& report) {
  Chart blocks{.name = "across_block",
               .title = "A block to another node and an answer, two nodes, by its words of 32 bits",
               .unit = "cycles",
               .logarithmic = true,
               .exact = true,
               .columns = {},
               .rows = {}};
  Chart all{.name = "across_all_to_all",
            .title = "A message of each node to each other and its answer, by nodes",
            .unit = "cycles",
            .logarithmic = true,
            .exact = true,
            .columns = {},
            .rows = {}};
  constexpr std::array sizes{4u, 16u, 64u, 256u, 1024u};
  constexpr std::array counts{4u, 16u, 64u};
  for (const unsigned words : sizes) blocks.rows.push_back({std::to_string(words), {}});
  for (const unsigned count : counts) all.rows.push_back({std::to_string(count), {}});
  for (const Kind& kind : kinds) {
    Row row(std::string(kind.title) + ": one source on " + std::to_string(nodes) + " nodes");
    row.key("machine", kind.name);
    add_time(row, kind, "ping", "PING, there and back", number(ping(kind.name, nodes)));
    add_time(row, kind, "block", "a block of 1024 words, and an answer",
             number(block(kind.name, nodes, 1024)));
    add_time(row, kind, "all_to_all", "each to each, and answers", number(all_to_all(kind.name, nodes)));
    add_time(row, kind, "stencil", "a step of a stencil", stencil(kind.name, nodes));
    row.beside("computing_cycles", "  of these, computing", {}, inner_cycles + edge_cycles);
    add_logp(kind, row);
    report.rows.push_back(std::move(row));
    blocks.columns.emplace_back(kind.title);
    all.columns.emplace_back(kind.title);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      blocks.rows[i].cells.push_back(exactly(number(block(kind.name, 2, sizes[i]))));
    for (std::size_t i = 0; i < counts.size(); ++i)
      all.rows[i].cells.push_back(exactly(number(all_to_all(kind.name, counts[i]))));
  }
  report.charts.push_back(std::move(blocks));
  report.charts.push_back(std::move(all));
}

void add_optional(Row& row, const std::string& name, const std::string& label,
                  const std::optional<double>& value, const std::string& instead) {
  if (value) {
    row.beside(name + "_cycles", label, {}, *value);
  } else {
    row.note(name, label, instead);
  }
}

void add_four_issues(Report& report) {
  for (const Kind& kind : kinds) {
    const FourIssues issues = four_issues(kind.name);
    const am::logp::Network network = logp_of(kind);
    const bool polls = kind.name == "cm5";
    const bool beside = kind.name == "mmachine";
    Row row(std::string(kind.title) + ": the four issues");
    row.key("machine", kind.name);
    row.beside("block_word_cycles", "1. data transfer: a word more of a block", {}, issues.block_word);
    row.beside("o_send_cycles", "  a handler and four words, out", {}, network.o_send);
    row.beside("o_recv_cycles", "  in, what it takes the computation", {}, network.o_recv);
    add_optional(row, "critical_section", "2. synchronization: handlers out and in again",
                 issues.critical_section,
                 polls ? "nothing: handlers run in polls" : "nothing: handlers run beside it");
    add_optional(row, "empty_poll", "  a look for a message that is not there", issues.empty_poll,
                 beside ? "nothing: a thread waits for it" : "");
    add_optional(row, "refused_send", "3. a send that is refused", issues.refused_send,
                 "a SEND waits; what finds no room at its node comes back (3.3.2)");
    if (!polls) {
      row.note("network_switch", "4. the network is switched to another program",
               kind.name == "ncube2" ? "by receiving all that is under way" : "when it is empty");
    } else {
      const NetworkSwitch swap = network_switch();
      row.beside("save_ns", "4. the network is switched: 64 nodes, saved", {},
                 number(swap.save) * am::cm5::cycle_ns,
                 std::to_string(swap.messages) + " messages were in it");
      row.beside("restore_ns", "  put back", {}, number(swap.restore) * am::cm5::cycle_ns);
    }
    report.rows.push_back(std::move(row));
  }
}

}  // namespace

const PaperSection across_machines{
    .name = "machines",
    .meaning = "one source on four machines under their clocks, and the LogP of each",
    .add = add_machines,
};

const PaperSection four_issues_section{
    .name = "four_issues",
    .meaning =
        "data transfer, synchronization, send failure, virtualization (von Eicken 1993, 3.3), measured",
    .add = add_four_issues,
};

}  // namespace amsim
