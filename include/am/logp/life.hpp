// LIFE under the LOG model: Conway's game on a torus of cells, a square of them on each node, in cycles of the M-Machine (W. S. Lee,
// "Mechanisms for Efficient, Protected Messaging", 1999, 7.2.1), and what follows for the machines that it is worth running on
// (7.3). Another program of the same traffic is the same with other numbers in it.
//
//   T_x = generations x (n C_cell + 4 (1 + sqrt n) (k_o + 2 v_o) + max(0, k_l - s))       n: cells on each node
//
// The thesis gives C_cell and the slack, and the time of the same program on one processor by what it reads off its Figure 7-14
// only: 60% of linear speedup where overhead is zero, because of "extra instructions" (footnote 7). We read that as k_o = k_l = 0,
// the words of a message still to be written (v_o stays 1: its effects "are not separately discussed"), and a cell of a
// program that has no threads to coordinate as 31 cycles. The thesis's other numbers follow within what can be read off a figure,
// but for 7 cycles as the limit of 256 cells on 256 processors, which is 6.5 here. By T_x itself, 35 cycles, they do not: 69% in
// place of 60, 39% of 34; even less by the "natural grain size of about 38 cycles": 75%. `amsim papers` has them side by side.
//
// Slack is that of the text, whatever the overhead: it counts 9 cycles for each send, where k_o + 2 v_o are 7.
//
// Grains are powers of 4, squares that halve a torus of 2^k x 2^k, as in the thesis's experiments. Pure functions, for any thread.
#pragma once

#include <am/logp/phases.hpp>

#include <cstdint>

namespace am::logp {

/// The thesis's program Life on a network: what a step of it takes.
struct Life {
  double cell_cycles = 35;               // C_cell: a cell's new value, in a program for several nodes
  double sequential_cell_cycles = 31;    // in one for a single node (assumed, see above)
  double slack_cycles = 33;              // the sends of at most 3 updates of a cell, and 6
  double slack_of_one_cell_cycles = 78;  // the sends of 8 updates, and 6
  double words = 2;                      // of a message
  bool inner_cells_last = false;         // for more slack, from 25 cells on (footnote 5)

  /// A generation on a node with `cells`, one or more.
  [[nodiscard]] Phase phase(double cells) const noexcept;
  /// Of one node of `cells` cells each, for a torus of more.
  [[nodiscard]] double generation_cycles(double cells, const Overheads& overheads) const noexcept {
    return execution_time(phase(cells), overheads);
  }
  /// Of one node that has all `cells`.
  [[nodiscard]] double sequential_generation_cycles(double cells) const noexcept {
    return cells * sequential_cell_cycles;
  }

  /// Speedup by node, in which it does not matter how many there are.
  [[nodiscard]] double efficiency(double cells, const Overheads& overheads) const noexcept {
    return sequential_generation_cycles(cells) / generation_cycles(cells, overheads);
  }
  /// Figure 7-14: of the speedup that a node for each cell would give at best, what the best grain gives.
  [[nodiscard]] double best_part_of_linear(const Overheads& overheads) const noexcept;

  /// A way to spread a torus over nodes.
  struct Spread {
    std::uint64_t cells = 0;  // on each
    std::uint64_t nodes = 1;
    double speedup = 1;
  };
  /// Figure 7-15: the fastest one of at least this efficiency; one node, which sends nothing, always is. `all_cells` is a power
  /// of 4.
  [[nodiscard]] Spread fastest(std::uint64_t all_cells, const Overheads& overheads,
                               double least_efficiency) const noexcept;
  /// Figure 7-16: the one of most nodes.
  [[nodiscard]] Spread largest(std::uint64_t all_cells, const Overheads& overheads,
                               double least_efficiency) const noexcept;
  /// Figure 7-17: the k_o up to which this grain is that efficient, with v_o and k_l of `overheads`; negative where it is not even
  /// without.
  [[nodiscard]] double greatest_per_message_cycles(double cells, const Overheads& overheads,
                                                   double efficiency) const noexcept;
};

/// The M-Machine's own (7.2.2).
[[nodiscard]] constexpr Overheads mmachine_overheads() noexcept {
  return {.per_message = 5, .per_word = 1, .latency = 11};
}

}  // namespace am::logp
