// Chapter 7 of W. S. Lee's thesis on the M-Machine: what its LOG model says of LIFE (am/logp/life.hpp), Figures 7-14 to 7-17, beside the
// numbers that the text reads off them. The text gives T_x, but not what one processor takes without any overhead; that is calibrated
// on the first number, and all others are predicted. Of Figure 7-16 the text says that 256 nodes need a problem of 16384 cells "when
// the overhead exceeds 120 cycles"; by T_x it is there that they begin to be too many for it, and 4096 cells are too few from 53 on.
//
// Measured on simulated nodes, Figures 7-11 to 7-13 are another section's.

#include <am/logp/life.hpp>

#include <array>
#include <cmath>
#include <string>

#include "amsim/papers/chapter_7.hpp"
#include "amsim/papers/sections.hpp"

namespace amsim {

namespace {

using namespace am::logp;

const Life life;
constexpr double least_efficiency = 0.3;  // of Figures 7-15 and 7-16
constexpr double band = 0.05;             // what can be read off a figure
const char* const calibrated = "calibrated";

// "The effects of k_o and v_o are not separately discussed": v_o stays the M-Machine's.
Overheads occupancy(double per_message_cycles) {
  Overheads overheads = mmachine_overheads();
  overheads.per_message = per_message_cycles;
  overheads.latency = 0;
  return overheads;
}
Overheads latency(double cycles) {
  Overheads overheads = occupancy(0);
  overheads.latency = cycles;
  return overheads;
}

// `reason`: why not, where it is not.
std::string in_band(double paper, double here, const std::string& reason = {}) {
  if (std::abs(here / paper - 1) <= band) return "predicted, in its band";
  return "predicted, outside its band" + (reason.empty() ? "" : ": " + reason);
}
std::string as_said(bool holds) { return holds ? "predicted, as said" : "predicted, not as said"; }
double nodes_of(const Life::Spread& spread) { return static_cast<double>(spread.nodes); }

constexpr std::array<double, 12> cycles_on_axis{0, 2, 5, 7, 10, 20, 35, 50, 75, 100, 150, 200};
constexpr std::array<double, 6> grains{1, 4, 16, 64, 256, 1024};

// -- the figures

void add_performance(Report& report) {
  const auto percent = [](const Overheads& overheads) { return 100 * life.best_part_of_linear(overheads); };
  Row& figures = row(report, "7-14", "Figure 7-14: best speedup of LIFE, of linear");
  figures.beside("k_o_0_percent", "no overhead", {60, ""}, percent(occupancy(0)), calibrated);
  figures.beside("k_o_5_percent", "k_o of 5 cycles", {34, ""}, percent(occupancy(5)),
                 in_band(34, percent(occupancy(5))));
  figures.beside("k_o_100_percent", "k_o of 100 cycles", {4, "<4"}, percent(occupancy(100)),
                 as_said(percent(occupancy(100)) < 4));
  figures.beside("k_l_200_percent", "k_l of 200 cycles, k_o of 0", {}, percent(latency(200)));
  Chart bars = chart("7_14", "Figure 7-14: best speedup of LIFE, of linear, by cycles of overhead", "%",
                     {"occupancy", "latency"});
  for (const double cycles : cycles_on_axis)
    bars.rows.push_back(
        {counted(cycles), {exactly(percent(occupancy(cycles))), exactly(percent(latency(cycles)))}});
  report.charts.push_back(std::move(bars));
}

void add_speedup(Report& report) {
  constexpr std::uint64_t cells = 16384;
  const auto speedup = [](const Overheads& overheads) {
    return life.fastest(cells, overheads, least_efficiency).speedup;
  };
  const double low = speedup(mmachine_overheads());
  const double high = speedup(occupancy(100));
  Row& figures = row(report, "7-15", "Figure 7-15: speedup of 16384 cells at an efficiency of 30% or more");
  figures.beside("mmachine_ratio", "M-Machine's overhead", {5000, ">5000"}, low, as_said(low > 5000));
  figures.beside("k_o_100_ratio", "k_o of 100 cycles", {100, "<100"}, high, as_said(high < 100));
  Chart bars = chart("7_15", "Figure 7-15: best speedup of 16384 cells at 30% or more, by cycles of overhead",
                     "x", {"occupancy", "latency"});
  bars.logarithmic = true;
  for (const double cycles : cycles_on_axis)
    bars.rows.push_back(
        {counted(cycles), {exactly(speedup(occupancy(cycles))), exactly(speedup(latency(cycles)))}});
  report.charts.push_back(std::move(bars));
}

void add_machines(Report& report) {
  const auto greatest = [](double cells) {
    return life.greatest_per_message_cycles(cells, occupancy(0), least_efficiency);
  };
  Row& figures = row(report, "7-16", "Figure 7-16: k_o up to which 256 nodes are 30% efficient");
  figures.beside("cells_256_cycles", "256 cells", {7, ""}, greatest(1),
                 in_band(7, greatest(1), "7 would take 63% at no overhead"));
  figures.beside("cells_4096_cycles", "4096 cells", {}, greatest(16));
  figures.beside("cells_16384_cycles", "16384 cells", {120, ""}, greatest(64), in_band(120, greatest(64)));
  constexpr std::array<std::uint64_t, 5> all_cells{64, 256, 1024, 4096, 16384};
  Chart bars = chart("7_16", "Figure 7-16: most nodes at 30% or more, by cycles of occupancy", "nodes",
                     {"64 cells", "256 cells", "1024 cells", "4096 cells", "16384 cells"});
  bars.logarithmic = true;
  for (const double cycles : cycles_on_axis) {
    Chart::Row& nodes = bars.rows.emplace_back(Chart::Row{counted(cycles), {}});
    for (const std::uint64_t cells : all_cells)
      nodes.cells.emplace_back(exactly(nodes_of(life.largest(cells, occupancy(cycles), least_efficiency))));
  }
  report.charts.push_back(std::move(bars));
}

void add_efficiency(Report& report) {
  const auto percent = [](double cells) { return 100 * life.efficiency(cells, occupancy(7)); };
  Row& figures = row(report, "7-17", "Figure 7-17: efficiency with a k_o of 7 cycles");
  figures.beside("cells_4_percent", "4 cells on each node", {50, ""}, percent(4), in_band(50, percent(4)));
  figures.beside("cells_64_percent", "64 cells on each node", {75, ""}, percent(64),
                 in_band(75, percent(64)));
  constexpr std::array<double, 3> efficiencies{0.3, 0.5, 0.75};
  Chart bars = chart("7_17", "Figure 7-17: occupancy up to which LIFE is so efficient, by cells on each node",
                     "cycles", {"30%", "50%", "75%"});
  for (const double cells : grains) {
    Chart::Row& limits = bars.rows.emplace_back(Chart::Row{counted(cells), {}});
    for (const double efficiency : efficiencies) {
      const double cycles = life.greatest_per_message_cycles(cells, occupancy(0), efficiency);
      limits.cells.push_back(cycles >= 0 ? std::optional(exactly(cycles)) : std::nullopt);
    }
  }
  report.charts.push_back(std::move(bars));
}

// What the thesis has measured (7.2.2), by the model: no more than that, as it leaves contention out.
void add_measured(Report& report) {
  constexpr double all_cells = 64;
  const auto speedup = [](double cells) {
    return life.sequential_generation_cycles(all_cells) / life.generation_cycles(cells, mmachine_overheads());
  };
  const double useless = life.greatest_per_message_cycles(1, mmachine_overheads(), 1 / all_cells);
  const char* const contention = "the model has no contention";
  const char* const slow_cells = "by T_x one node would take 44 cycles a cell";
  Row& figures = row(report, "7-12", "7.2.2: 64 cells; the thesis's are measured, here T_x");
  figures.beside("nodes_4_ratio", "speedup, 4 nodes", {4, "~4"}, speedup(16),
                 in_band(4, speedup(16), slow_cells));
  figures.beside("nodes_16_ratio", "speedup, 16 nodes", {8, ">8"}, speedup(4), as_said(speedup(4) > 8));
  figures.beside("nodes_64_ratio", "speedup, 64 nodes", {12, ""}, speedup(1),
                 in_band(12, speedup(1), contention));
  figures.beside("useless_cycles", "k_o from which no grain is faster than one node", {225, "~225"}, useless,
                 in_band(225, useless, contention));
}

void add(Report& report) {
  add_performance(report);
  add_speedup(report);
  add_machines(report);
  add_efficiency(report);
  add_measured(report);
}

}  // namespace

const PaperSection chapter_7_model{
    .name = "log",
    .meaning = "the LOG model of LIFE (Lee 1999, 7.2.1 and 7.3), Figures 7-14 to 7-17; bands of 5%",
    .add = add,
};

}  // namespace amsim
