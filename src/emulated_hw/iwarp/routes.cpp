#include "emulated_hw/iwarp/routes.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/dimension_order.hpp"

namespace am::iwarp {

namespace {

[[noreturn]] void refuse_route(CellNumber cell, const std::string& what) {
  throw std::invalid_argument("iwarp: a route from cell " + std::to_string(cell) + what);
}

/// The wire out of that side.
const kit::Wire& wire_at(const kit::Wiring& wiring, CellNumber from, CellNumber cell, Direction side) {
  if (neighbour(wiring, cell, side) == kit::nowhere)
    refuse_route(from, " leaves the array at cell " + std::to_string(cell));
  return wiring.wire(wiring.out_of(cell)[port(side)]);
}

}  // namespace

Route along(const kit::Wiring& wiring, CellNumber from, std::span<const Leg> legs) {
  if (legs.empty()) refuse_route(from, " has no way");
  Route route{.first = legs.front().direction, .signs = {}};
  CellNumber cell = from;
  for (const Leg& leg : legs) {
    if (leg.busses == 0) refuse_route(from, " has a leg of no busses");
    if (!route.signs.empty()) route.signs.back().turn = leg.direction;
    Direction side = leg.direction;
    for (unsigned i = 0; i < leg.busses; ++i) {
      const kit::Wire& wire = wire_at(wiring, from, cell, side);
      cell = wire.to.part;
      side = opposite(static_cast<Direction>(wire.to.port));
    }
    route.signs.push_back({.cell = cell, .pool = leg.pool, .origin = from});
  }
  return route;
}

std::vector<Leg> on_grid(const kit::Grid& grid, CellNumber from, CellNumber to, Pool pool) {
  if (from == to || std::max(from, to) >= grid.nodes())
    refuse_route(from, " to cell " + std::to_string(to) + " of " + std::to_string(grid.nodes()));
  std::vector<Leg> legs;
  for (unsigned d = 0; d < grid.dimensions(); ++d) {
    const std::uint32_t at = grid.at(from, d);
    const std::uint32_t there = grid.at(to, d);
    if (at == there) continue;
    const auto [extent, wraps] = grid.dimension(d);
    const kit::WayRound way = wraps ? kit::way_round(at, there, extent, [=] { return at % 2 == 0; })
                                    : kit::WayRound{at < there, false};
    const unsigned up = at < there ? there - at : there + extent - at;
    const unsigned down = extent - up;
    const Direction upwards = d == 0 ? Direction::x_right : Direction::y_up;
    legs.push_back({.direction = way.goes_up ? upwards : opposite(upwards),
                    .busses = way.goes_up ? up : down,
                    .pool = pool != Pool::reservation && way.passes_edge ? Pool::open_over_edge : pool});
  }
  return legs;
}

}  // namespace am::iwarp
