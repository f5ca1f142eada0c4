// Where the channels of a live network lead whose routers stand at the points of a grid, one for each node. Inputs and outputs are
// numbered port * vcs + vc; port 0 is the node's interface.
#pragma once

#include <cstdint>

#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/live_network.hpp"

namespace am::kit {

/// Of a mesh.
struct Extents {
  unsigned rows = 1;
  unsigned columns = 1;

  [[nodiscard]] static constexpr Extents of_shape(std::uint32_t shape) noexcept {
    return {shape & 0xffff, shape >> 16};
  }
};

/// `interface_input`: by which nodes' interfaces inject themselves.
template <unsigned vcs, unsigned interface_input>
class LiveGrid {
 public:
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }

 protected:
  /// Dimension 0 of the grid is along a row.
  explicit LiveGrid(const Grid& grid) : grid_(grid) {}
  ~LiveGrid() = default;

  /// For LiveNetwork: Extents.
  [[nodiscard]] std::uint32_t shape() const noexcept {
    return grid_.dimension(1).extent | grid_.dimension(0).extent << 16;
  }
  /// The input at which an output's channel ends. Port 0: what the interface sends back.
  [[nodiscard]] InputAt behind(NodeNumber at, unsigned output) const noexcept {
    const unsigned port = output / vcs;
    if (port == 0) return {at, output};
    return {grid_.neighbour(at, port), Grid::opposite(port) * vcs + output % vcs};
  }
  /// The router, or interface, that lets packets in there; nowhere: the processor, or nobody.
  [[nodiscard]] RouterNumber feeder(NodeNumber at, unsigned input) const noexcept {
    return input == interface_input ? at : grid_.neighbour(at, input / vcs);
  }

 private:
  const Grid grid_;
};

}  // namespace am::kit
