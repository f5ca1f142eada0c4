// Routes of pathways and messages: street signs, one for each corner and one for the destination (Borkar et al. 1990, 6.1.3).
//
// "The scheme is to follow the road in the same direction until you reach the destination, or make a turn when you come to a particular corner."
//
// Why messages of the open pool do not wait for each other in a circle: on_grid() goes all of the way in the first dimension, then in the
// second, so no channel of the first is waited for by who has one of the second. On a ring, a leg that passes the edge takes channels of the
// class open_over_edge, one that does not takes those of open. So open never passes the edge, and is no circle. A leg over the edge goes no
// further than half way round: it begins in the upper half and ends in the lower one, so the ring of its class is open in the middle. And a
// message that has come waits for nothing but its cell, which takes it. Each bus needs a channel of each class that crosses it.
#pragma once

#include <span>
#include <vector>

#include "emulated_hw/iwarp/wiring.hpp"

namespace am::iwarp {

/// So many busses in one direction, by channels of one pool.
struct Leg {
  Direction direction{};
  unsigned busses = 0;
  Pool pool = Pool::reservation;
};

struct Route {
  Direction first{};
  std::vector<Sign> signs;  ///< corners, in the order in which they are met, then the destination
  [[nodiscard]] Pool pool() const noexcept { return signs.front().pool; }
  [[nodiscard]] CellNumber destination() const noexcept { return signs.back().cell; }
};

/// Legs follow one another at corners. Throws std::invalid_argument where one leaves the array, or there is none.
[[nodiscard]] Route along(const kit::Wiring& wiring, CellNumber from, std::span<const Leg> legs);

/// Dimension by dimension, the shorter way round where it wraps. Of the open pool, by its two classes. Throws std::invalid_argument where they
/// are one cell, or there is none.
[[nodiscard]] std::vector<Leg> on_grid(const kit::Grid& grid, CellNumber from, CellNumber to, Pool pool);

}  // namespace am::iwarp
