#include "emulated_hw/t1/router.hpp"

#include <stdexcept>
#include <string>

namespace am::t1 {

kit::Grid grid_of(const Shape& shape) {
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > most_nodes || shape.columns > most_nodes ||
      shape.rows * shape.columns > most_nodes)
    throw std::invalid_argument("t1: a mesh of " + std::to_string(shape.rows) + " rows and " +
                                std::to_string(shape.columns) + " columns: it has 1 to " +
                                std::to_string(most_nodes) + " nodes");
  if (shape.patience > most_patience)
    throw std::invalid_argument("t1: a patience of " + std::to_string(shape.patience) + ": at most 255");
  return {{.extent = shape.columns, .wraps = shape.wraps}, {.extent = shape.rows, .wraps = false}};
}

}  // namespace am::t1
