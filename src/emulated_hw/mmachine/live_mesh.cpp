#include "emulated_hw/mmachine/live_mesh.hpp"

#include <stdexcept>
#include <string>

namespace am::mmachine {

kit::Grid live_grid(unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0 || rows > most_extent_live || columns > most_extent_live)
    throw std::invalid_argument("mmachine: a mesh of " + std::to_string(rows) + " rows and " +
                                std::to_string(columns) + " columns: 1x1 to 32x32");
  return {{.extent = columns, .wraps = false}, {.extent = rows, .wraps = false}};
}

LiveMesh::LiveMesh(unsigned rows, unsigned columns, std::byte* memory, Nodes& nodes)
    : LiveGrid(live_grid(rows, columns)),
      LiveNetwork(map().nodes(), LiveGrid::shape(), memory),
      nodes_(nodes) {}

}  // namespace am::mmachine

namespace am::kit {
template class LiveNetwork<mmachine::LiveMesh, mmachine::LiveRouter>;
}
