// What can be drawn of a trace.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "emulated_hw/kit/trace.hpp"

namespace amsim {

/// Its grid. Throws std::invalid_argument, with what it is that draws, where it has none of one or two dimensions.
[[nodiscard]] inline const am::kit::Grid& flat_grid(const am::kit::Trace& trace, const std::string& what) {
  const auto* grid = std::get_if<am::kit::Grid>(&trace.topology());
  if (grid == nullptr || grid->dimensions() > 2)
    throw std::invalid_argument(
        what + " shows a grid of one or two dimensions" +
        (grid == nullptr ? " only" : ", not of " + std::to_string(grid->dimensions())));
  return *grid;
}

}  // namespace amsim
