// Chapter 7 of W. S. Lee's thesis on the M-Machine, what was measured there: LIFE of 64 cells on 1, 4, 16 and 64 nodes, run on the
// machine of src/emulated_hw/mmachine under its clock, with more latency and more occupancy (Figures 7-11 to 7-13), beside T_x of 7.2.1. The
// program's costs of a cell and of a message are the thesis's; nothing is calibrated on what is compared here.
//
// Speedups are against one node with the same program. T_x says 3.2 for 4 nodes, where the thesis reads "about 4" off its own runs.

#include <am/logp/life.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amsim/papers/chapter_7.hpp"
#include "amsim/papers/life.hpp"
#include "amsim/papers/sections.hpp"
#include "results/values.hpp"

namespace amsim {

namespace {

using namespace chapter_7;

constexpr unsigned side = 8;
constexpr unsigned generations = 1000;
constexpr unsigned generations_of_sweeps = 40;
constexpr double cells = side * side;
const std::vector<unsigned> nodes_sides{2, 4, 8};

LifeBoard random_board() {
  LifeBoard board(side * side);
  std::uint32_t bits = 0x2545f491;
  for (std::uint8_t& cell : board) {
    bits = bits * 1664525 + 1013904223;
    cell = bits >> 30 == 0 ? 1 : 0;
  }
  return board;
}

std::string nodes_text(unsigned nodes_side) {
  return nodes_side == 1 ? "1 node" : std::to_string(nodes_side * nodes_side) + " nodes";
}

/// Thousands of cycles that a thousand generations take, or would at the pace of fewer.
double kilocycles(unsigned nodes_side, Cycle latency, unsigned occupancy) {
  Life life(random_board(),
            {.nodes_side = nodes_side, .extra_latency = latency, .extra_occupancy = occupancy});
  return static_cast<double>(life.run(generations_of_sweeps)) / generations_of_sweeps;
}
double by_model(unsigned nodes_side, double latency, double occupancy) {
  am::logp::Overheads overheads = am::logp::mmachine_overheads();
  overheads.latency += latency;
  overheads.per_message += occupancy;
  return am::logp::Life{}.generation_cycles(cells / (nodes_side * nodes_side), overheads);
}

// -- 7.2.2: "very good speed up is observed"

void add_speedups(Report& report) {
  const LifeBoard begin = random_board();
  LifeBoard expected = begin;
  for (unsigned generation = 0; generation < generations; ++generation)
    expected = next_generation(expected, side);
  struct Paper {
    unsigned nodes_side;
    double value;
    const char* text;
  };
  Row& figures = row(report, "speedup", "7.2.2: LIFE of 64 cells, 1000 generations: speedup");
  double alone = 0;
  for (const Paper& paper : {Paper{1, 1, "1"}, Paper{2, 4, "~4"}, Paper{4, 8, ">8"}, Paper{8, 12, "~12"}}) {
    Life life(begin, {.nodes_side = paper.nodes_side});
    const auto cycles = static_cast<double>(life.run(generations));
    if (paper.nodes_side == 1) alone = cycles;
    const bool equal = life.board() == expected;
    const double predicted =
        paper.nodes_side == 1 ? 1 : cells * am::logp::Life{}.cell_cycles / by_model(paper.nodes_side, 0, 0);
    figures.beside(
        "nodes_" + std::to_string(paper.nodes_side * paper.nodes_side) + "_ratio",
        nodes_text(paper.nodes_side) + ", " + counted(cycles / 1000) + " kilocycles",
        {paper.value, paper.text}, alone / cycles,
        "T_x " + counted(predicted) + (equal ? "; the sequential run's board" : "; a WRONG board"));
  }
}

// -- Figures 7-11 to 7-13

/// Of runs with more of something, in its order.
using Sweep = std::vector<std::pair<double, double>>;  // how much more, kilocycles

constexpr std::array<unsigned, 8> more_latency{0, 10, 20, 30, 50, 100, 150, 200};
constexpr std::array<unsigned, 8> more_occupancy{0, 5, 10, 25, 50, 100, 200, 300};

/// A figure of the runs, and T_x beside each.
void add_runtime(Report& report, const char* figure, const std::string& title,
                 const std::map<unsigned, Sweep>& sweeps, double (*model)(unsigned, double)) {
  std::vector<std::string> columns;
  for (const unsigned nodes_side : nodes_sides) {
    columns.push_back(nodes_text(nodes_side));
    columns.push_back("T_x");
  }
  Chart lines = chart(figure, title, "kilocycles", columns);
  for (std::size_t i = 0; i < sweeps.at(nodes_sides[0]).size(); ++i) {
    Chart::Row& at = lines.rows.emplace_back(Chart::Row{counted(sweeps.at(nodes_sides[0])[i].first), {}});
    for (const unsigned nodes_side : nodes_sides) {
      const auto& [more, runtime] = sweeps.at(nodes_side)[i];
      at.cells.emplace_back(exactly(runtime));
      at.cells.emplace_back(exactly(model(nodes_side, more)));
    }
  }
  report.charts.push_back(std::move(lines));
}

/// Where a line through the last two points meets the runtime without any more.
double slack_of(const Sweep& sweep) {
  const auto& [x0, y0] = sweep[sweep.size() - 2];
  const auto& [x1, y1] = sweep.back();
  return x0 - (y0 - sweep.front().second) * (x1 - x0) / (y1 - y0);
}
/// Where the runtime is `limit`, between two points; none: nowhere.
std::optional<double> meets(const Sweep& sweep, double limit) {
  for (std::size_t i = 1; i < sweep.size(); ++i) {
    const auto& [x0, y0] = sweep[i - 1];
    const auto& [x1, y1] = sweep[i];
    if (y0 <= limit && limit <= y1) return x0 + (limit - y0) * (x1 - x0) / (y1 - y0);
  }
  return {};
}

void add_latency(Report& report, const std::map<unsigned, Sweep>& sweeps) {
  add_runtime(report, "7_11", "Figure 7-11: LIFE of 64 cells, 1000 generations, by cycles of latency more",
              sweeps, [](unsigned nodes_side, double more) { return by_model(nodes_side, more, 0); });
  const Sweep& few = sweeps.at(4);
  Row& figures = row(report, "7-11", "Figure 7-11: LIFE against latency");
  figures.beside("slope_cycles",
                 "16 nodes, behind the slack: cycles for each of latency, of 1000 generations",
                 {1000, "~1000"},
                 1000 * (few.back().second - few[few.size() - 2].second) /
                     (few.back().first - few[few.size() - 2].first));
  figures.beside(
      "slack_cycles", "16 nodes, latency from 0 that costs nothing (7.2.1: 33)", {21, "~21"},
      am::logp::mmachine_overheads().latency + slack_of(few),
      "negative: needed before it is handled, as a corner's third message waits for the handlers of two");
}

void add_occupancy(Report& report, const std::map<unsigned, Sweep>& sweeps, double alone) {
  add_runtime(report, "7_13", "Figure 7-13: LIFE of 64 cells, 1000 generations, by cycles of occupancy more",
              sweeps, [](unsigned nodes_side, double more) { return by_model(nodes_side, 0, more); });
  Row& figures = row(report, "7-13", "Figure 7-13: occupancy more from which 1 node is faster");
  for (const unsigned nodes_side : nodes_sides) {
    const auto limit = meets(sweeps.at(nodes_side), alone);
    const std::string name = "nodes_" + std::to_string(nodes_side * nodes_side) + "_cycles";
    if (!limit) continue;
    const bool last = nodes_side == nodes_sides.back();
    figures.beside(name, nodes_text(nodes_side), last ? Row::Reference{225, "~225"} : Row::Reference{},
                   *limit, last ? "\"for every one of the grain sizes\"" : "");
  }
}

void add_speedup_chart(Report& report, const std::map<unsigned, Sweep>& by_latency,
                       const std::map<unsigned, Sweep>& by_occupancy, double alone) {
  Chart lines = chart("7_12", "Figure 7-12: LIFE of 64 cells: speedup, by overhead more", "x",
                      {"4 nodes", "16 nodes", "64 nodes"});
  const auto add_sweeps = [&](const char* what, const std::map<unsigned, Sweep>& sweeps) {
    for (std::size_t i = 0; i < sweeps.at(nodes_sides[0]).size(); ++i) {
      Chart::Row& at = lines.rows.emplace_back(
          Chart::Row{std::string(what) + ' ' + counted(sweeps.at(nodes_sides[0])[i].first), {}});
      for (const unsigned nodes_side : nodes_sides)
        at.cells.emplace_back(exactly(alone / sweeps.at(nodes_side)[i].second));
    }
  };
  add_sweeps("latency", by_latency);
  add_sweeps("occupancy", by_occupancy);
  report.charts.push_back(std::move(lines));
}

void add(Report& report) {
  add_speedups(report);
  std::map<unsigned, Sweep> by_latency, by_occupancy;
  for (const unsigned nodes_side : nodes_sides) {
    for (const unsigned more : more_latency)
      by_latency[nodes_side].emplace_back(more, kilocycles(nodes_side, more, 0));
    for (const unsigned more : more_occupancy)
      by_occupancy[nodes_side].emplace_back(more, kilocycles(nodes_side, 0, more));
  }
  const double alone = kilocycles(1, 0, 0);
  add_latency(report, by_latency);
  add_speedup_chart(report, by_latency, by_occupancy, alone);
  add_occupancy(report, by_occupancy, alone);
}

}  // namespace

const PaperSection chapter_7_runs{
    .name = "life",
    .meaning = "LIFE on simulated nodes (Lee 1999, 7.2.2), Figures 7-11 to 7-13",
    .add = add,
};

}  // namespace amsim
