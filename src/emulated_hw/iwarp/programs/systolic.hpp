// Systolic programs: each cell uses words as they arrive, and sends results on as they are produced (Borkar et al. 1990, 2.2, 7.1).
//
// The edge of the array reads its matrices and vectors from memory by the same gates: "the computation agent can also access data spooled in
// memory in a FIFO manner as if the data just arrived" (7.2).
#pragma once

#include <vector>

#include "emulated_hw/iwarp/machine.hpp"

namespace am::iwarp {

struct Product {
  std::vector<Data> values;
  Cycle cycles = 0;
  std::uint64_t fingerprint = 0;
};
/// Of two n x n matrices, row by row, on n x n cells: rows of the first one move to the right, columns of the second one up, and each cell keeps
/// its sum. `orders`: of the cells, in which they are stepped, one for each cycle in turns; or none.
[[nodiscard]] Product multiply(unsigned n, const std::vector<Data>& a, const std::vector<Data>& b,
                               std::span<const std::vector<CellNumber>> orders = {});

/// y[i] = sum of w[j] x[i + j], with a weight in each cell of a row; there are no fewer x than w.
[[nodiscard]] Product convolve(const std::vector<Data>& x, const std::vector<Data>& w);

/// A program that needs longer queues than cells have (2.2, 7.2; Kung, Deadlock Avoidance for Systolic Communication, 1988): cell 0 sends all
/// of one stream, then all of another; cell 1 reads the second one first. Where it extends the queue of the first one into memory, all comes.
/// How many cycles it takes. Throws std::runtime_error, which names the circle, where it stops for ever; std::logic_error for a wrong word.
[[nodiscard]] Cycle cross_streams(unsigned words, bool extends);

}  // namespace am::iwarp
