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

/// Where nodes are and who is next to them is looked up: a division takes longer than all else that a router does.
class Grid {
 public:
  struct Dimension {
    std::uint32_t extent = 1;
    bool wraps = false;
  };
  static constexpr unsigned most_dimensions = 10;
  static constexpr NodeNumber most_nodes = 1 << 16;
  static constexpr NodeNumber nowhere = kit::nowhere;

  Grid(std::initializer_list<Dimension> dimensions)
      : Grid(std::span(dimensions.begin(), dimensions.size())) {}
  /// Throws std::invalid_argument, as the other does.
  explicit Grid(std::span<const Dimension> dimensions) {
    if (dimensions.size() > most_dimensions) throw std::invalid_argument("a grid has too many dimensions");
    for (const Dimension& dimension : dimensions) {
      if (dimension.extent == 0 || dimension.extent > most_nodes / nodes_)
        throw std::invalid_argument("a grid has no nodes, or too many");
      dimension_[dimensions_++] = dimension;
      nodes_ *= dimension.extent;
    }
    for (NodeNumber node = 0; node < nodes_; ++node) {
      neighbours_.push_back(nowhere);
      NodeNumber stride = 1;
      for (const Dimension& dimension : dimensions) {
        const std::uint32_t here = node / stride % dimension.extent;
        at_.push_back(here);
        for (const bool goes_up : {true, false})
          neighbours_.push_back(next(node, here, stride, dimension, goes_up));
        stride *= dimension.extent;
      }
    }
  }

  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] RouterNumber routers() const noexcept { return nodes_; }
  [[nodiscard]] unsigned dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] const Dimension& dimension(unsigned d) const noexcept { return dimension_[d]; }
  [[nodiscard]] unsigned ports() const noexcept { return 1 + 2 * dimensions_; }
  static constexpr unsigned up(unsigned d) noexcept { return 1 + 2 * d; }
  static constexpr unsigned down(unsigned d) noexcept { return 2 + 2 * d; }
  /// The port of the neighbour at which a channel from this port ends.
  static constexpr unsigned opposite(unsigned port) noexcept { return port % 2 == 1 ? port + 1 : port - 1; }
  static constexpr unsigned opposite(RouterNumber, unsigned port) noexcept { return opposite(port); }
  /// Where a node's interface is.
  static constexpr Place place_of(NodeNumber node) noexcept { return {node, 0}; }

  [[nodiscard]] std::uint32_t at(NodeNumber node, unsigned d) const noexcept {
    return at_[node * dimensions_ + d];
  }
  /// Who is next to it, or nowhere. A dimension of extent 1 leads nowhere, one of 2 that wraps has two channels each way.
  [[nodiscard]] NodeNumber neighbour(NodeNumber node, unsigned port) const noexcept {
    return neighbours_[node * ports() + port];
  }

 private:
  /// From a node that is `here` in that dimension.
  static NodeNumber next(NodeNumber node, std::uint32_t here, NodeNumber stride, const Dimension& dimension,
                         bool goes_up) noexcept {
    const auto [extent, wraps] = dimension;
    const bool edge = here == (goes_up ? extent - 1 : 0);
    if (extent == 1 || (edge && !wraps)) return nowhere;
    const std::uint32_t there = goes_up ? (edge ? 0 : here + 1) : (edge ? extent - 1 : here - 1);
    return node - here * stride + there * stride;
  }

  std::array<Dimension, most_dimensions> dimension_{};
  unsigned dimensions_ = 0;
  NodeNumber nodes_ = 1;
  std::vector<std::uint32_t> at_;       // by node and dimension
  std::vector<NodeNumber> neighbours_;  // by node and port
};

}  // namespace am::kit
