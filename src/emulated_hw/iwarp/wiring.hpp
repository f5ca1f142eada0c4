// How iWarp cells are wired: an open list of busses, each from a side of one cell to a side of another (Borkar et al. 1990, 4).
//
// "The busses are completely independent. For example, there is no need to connect XRight_in to the same neighbor cell as XRight_out."
// A port of kit::Wiring is a side: kit::Wiring(cells, 0), and a wire for each bus.
//
// Assumed: YUp leads to higher rows.
#pragma once

#include "emulated_hw/iwarp/costs.hpp"
#include "emulated_hw/iwarp/word.hpp"
#include "emulated_hw/kit/wiring.hpp"

namespace am::iwarp {

/// Out at `side` of one cell, in at `into` of another.
inline void connect(kit::Wiring& wiring, CellNumber from, Direction side, CellNumber to, Direction into) {
  wiring.connect({{from, port(side)}, {to, port(into)}, costs::bus});
}

/// Which port of a grid's router that side is.
[[nodiscard]] constexpr unsigned grid_port(Direction side) noexcept {
  const unsigned dimension = side == Direction::x_right || side == Direction::x_left ? 0 : 1;
  return side == Direction::x_right || side == Direction::y_up ? kit::Grid::up(dimension)
                                                               : kit::Grid::down(dimension);
}

/// Each neighbour of a grid at its side; a dimension that wraps is a ring. A torus is {{columns, true}, {rows, true}}.
[[nodiscard]] inline kit::Wiring grid_wiring(const kit::Grid& grid) {
  if (grid.dimensions() > 2 || grid.nodes() > most_cells)
    throw std::invalid_argument("iwarp: an array has one or two dimensions, and up to 4096 cells");
  kit::Wiring wiring(grid.nodes(), 0);
  for (CellNumber cell = 0; cell < grid.nodes(); ++cell) {
    for (unsigned d = 0; d < grid.dimensions(); ++d) {
      const Direction up = d == 0 ? Direction::x_right : Direction::y_up;
      for (const auto& [at, side] : {std::pair{kit::Grid::up(d), up}, {kit::Grid::down(d), opposite(up)}}) {
        const CellNumber next = grid.neighbour(cell, at);
        if (next != kit::nowhere) connect(wiring, cell, side, next, opposite(side));
      }
    }
  }
  return wiring;
}

/// Figure 6: each cell has six neighbours, three to which it sends and three from which it receives. Three streams cross: one to the right, one
/// up, and one to the left and down.
[[nodiscard]] inline kit::Wiring hexagonal_wiring(CellNumber columns, CellNumber rows) {
  kit::Wiring wiring(columns * rows, 0);
  for (CellNumber cell = 0; cell < columns * rows; ++cell) {
    const bool has_left = cell % columns != 0;
    if (cell % columns + 1 != columns) connect(wiring, cell, Direction::x_right, cell + 1, Direction::x_left);
    if (cell + columns < columns * rows)
      connect(wiring, cell, Direction::y_up, cell + columns, Direction::y_down);
    if (has_left && cell >= columns)
      connect(wiring, cell, Direction::x_left, cell - columns - 1, Direction::x_right);
  }
  return wiring;
}

/// Where the bus out of that side leads, or nowhere.
[[nodiscard]] inline CellNumber neighbour(const kit::Wiring& wiring, CellNumber cell, Direction side) {
  const auto& out = wiring.out_of(cell);
  if (port(side) >= out.size() || out[port(side)] == kit::no_wire) return kit::nowhere;
  return wiring.wire(out[port(side)]).to.part;
}

}  // namespace am::iwarp
