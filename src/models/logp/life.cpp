#include <am/logp/life.hpp>

#include <algorithm>
#include <cmath>

namespace am::logp {

namespace {

// Beyond it a cell's share of messages no longer counts.
constexpr std::uint64_t largest_grain = std::uint64_t{1} << 30;

}  // namespace

// A cell of an edge goes to one node, a corner to three; a single cell to eight.
Phase Life::phase(double cells) const noexcept {
  const double side = std::sqrt(cells);
  double slack = cells > 1 ? slack_cycles : slack_of_one_cell_cycles;
  if (inner_cells_last && side > 4) slack = std::max(slack, (side - 4) * (side - 4) * cell_cycles);
  return {.computation = cells * cell_cycles, .messages = 4 * (1 + side), .words = words, .slack = slack};
}

double Life::best_part_of_linear(const Overheads& overheads) const noexcept {
  double best = 0;
  for (std::uint64_t cells = 1; cells <= largest_grain; cells *= 4) {
    const auto grain = static_cast<double>(cells);
    best = std::max(best, efficiency(grain, overheads) / grain);
  }
  return best;
}

Life::Spread Life::fastest(std::uint64_t all_cells, const Overheads& overheads,
                           double least_efficiency) const noexcept {
  Spread best{.cells = all_cells};
  for (std::uint64_t cells = all_cells / 4; cells > 0; cells /= 4) {
    const double here = efficiency(static_cast<double>(cells), overheads);
    const std::uint64_t nodes = all_cells / cells;
    const double speedup = static_cast<double>(nodes) * here;
    if (here >= least_efficiency && speedup > best.speedup) best = {cells, nodes, speedup};
  }
  return best;
}

Life::Spread Life::largest(std::uint64_t all_cells, const Overheads& overheads,
                           double least_efficiency) const noexcept {
  for (std::uint64_t cells = 1; cells < all_cells; cells *= 4) {
    const double here = efficiency(static_cast<double>(cells), overheads);
    const std::uint64_t nodes = all_cells / cells;
    if (here >= least_efficiency) return {cells, nodes, static_cast<double>(nodes) * here};
  }
  return {.cells = all_cells};
}

double Life::greatest_per_message_cycles(double cells, const Overheads& overheads,
                                         double efficiency) const noexcept {
  const Phase one = phase(cells);
  const double allowed_cycles = sequential_generation_cycles(cells) / efficiency;
  const double stalled_cycles = std::max(0.0, overheads.latency - one.slack);
  return (allowed_cycles - one.computation - stalled_cycles) / one.messages - overheads.per_word * one.words;
}

}  // namespace am::logp
