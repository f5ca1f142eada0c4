// Grids: nodes at the points of a box of any number of dimensions, each of which may wrap around. A mesh wraps in none, a torus in
// all, the CNS-1's cylinder in one (T1 report, section 3.2).
//
// Port 0 of a router leads to its node's network interface, port 1 + 2 d up in dimension d, port 2 + 2 d down. Nodes are
// numbered with the first dimension fastest.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

#include "emulated_hw/kit/ports.hpp"

namespace am::kit {

class Grid {
 public:
  struct Dimension {
    std::uint32_t extent = 1;
    bool wraps = false;
  };
  static constexpr unsigned most_dimensions = 10;
  static constexpr NodeNumber most_nodes = 1 << 16;
  static constexpr NodeNumber nowhere = kit::nowhere;

  constexpr Grid(std::initializer_list<Dimension> dimensions)
      : Grid(std::span(dimensions.begin(), dimensions.size())) {}
  /// Throws std::invalid_argument, as the other does.
  explicit constexpr Grid(std::span<const Dimension> dimensions) {
    if (dimensions.size() > most_dimensions) throw std::invalid_argument("a grid has too many dimensions");
    for (const Dimension& dimension : dimensions) {
      if (dimension.extent == 0 || dimension.extent > most_nodes / nodes_)
        throw std::invalid_argument("a grid has no nodes, or too many");
      stride_[dimensions_] = nodes_;
      dimension_[dimensions_++] = dimension;
      nodes_ *= dimension.extent;
    }
  }

  [[nodiscard]] constexpr NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] constexpr RouterNumber routers() const noexcept { return nodes_; }
  [[nodiscard]] constexpr unsigned dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] constexpr const Dimension& dimension(unsigned d) const noexcept { return dimension_[d]; }
  [[nodiscard]] constexpr unsigned ports() const noexcept { return 1 + 2 * dimensions_; }
  static constexpr unsigned up(unsigned d) noexcept { return 1 + 2 * d; }
  static constexpr unsigned down(unsigned d) noexcept { return 2 + 2 * d; }
  /// The port of the neighbour at which a channel from this port ends.
  static constexpr unsigned opposite(unsigned port) noexcept { return port % 2 == 1 ? port + 1 : port - 1; }
  static constexpr unsigned opposite(RouterNumber, unsigned port) noexcept { return opposite(port); }
  /// Where a node's interface is.
  static constexpr Place place_of(NodeNumber node) noexcept { return {node, 0}; }

  [[nodiscard]] constexpr std::uint32_t at(NodeNumber node, unsigned d) const noexcept {
    return node / stride_[d] % dimension_[d].extent;
  }
  /// Who is next to it, or nowhere. A dimension of extent 1 leads nowhere, one of 2 that wraps has two channels each way.
  [[nodiscard]] constexpr NodeNumber neighbour(NodeNumber node, unsigned port) const noexcept {
    if (port == 0) return nowhere;
    const unsigned d = (port - 1) / 2;
    const auto [extent, wraps] = dimension_[d];
    const std::uint32_t here = at(node, d);
    const bool edge = port == up(d) ? here == extent - 1 : here == 0;
    if (extent == 1 || (edge && !wraps)) return nowhere;
    const std::uint32_t there = port == up(d) ? (edge ? 0 : here + 1) : (edge ? extent - 1 : here - 1);
    return node - here * stride_[d] + there * stride_[d];
  }

 private:
  std::array<Dimension, most_dimensions> dimension_{};
  std::array<NodeNumber, most_dimensions> stride_{};
  unsigned dimensions_ = 0;
  NodeNumber nodes_ = 1;
};

/// The same, looked up: a division takes longer than all else that a router does.
class MappedGrid {
 public:
  explicit MappedGrid(const Grid& grid)
      : grid_(grid),
        at_(std::size_t{grid.nodes()} * grid.dimensions()),
        neighbours_(std::size_t{grid.nodes()} * grid.ports()) {
    for (NodeNumber node = 0; node < grid.nodes(); ++node) {
      for (unsigned d = 0; d < grid.dimensions(); ++d) at_[node * grid.dimensions() + d] = grid.at(node, d);
      for (unsigned port = 0; port < grid.ports(); ++port)
        neighbours_[node * grid.ports() + port] = grid.neighbour(node, port);
    }
  }
  [[nodiscard]] const Grid& plain() const noexcept { return grid_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return grid_.nodes(); }
  [[nodiscard]] unsigned dimensions() const noexcept { return grid_.dimensions(); }
  [[nodiscard]] const Grid::Dimension& dimension(unsigned d) const noexcept { return grid_.dimension(d); }
  [[nodiscard]] std::uint32_t at(NodeNumber node, unsigned d) const noexcept {
    return at_[node * grid_.dimensions() + d];
  }
  [[nodiscard]] NodeNumber neighbour(NodeNumber node, unsigned port) const noexcept {
    return neighbours_[node * grid_.ports() + port];
  }

 private:
  const Grid grid_;
  std::vector<std::uint32_t> at_;
  std::vector<NodeNumber> neighbours_;
};

}  // namespace am::kit
