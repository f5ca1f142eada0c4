// The shape of each of the CM-5's two data networks (von Eicken 1993, 3.2.3, Figure 3-9): a 4-ary fat tree whose nodes and lowest routers have
// two parents instead of four.
//
// Any number of nodes has the smallest such tree. Leaves that are missing are absent, and so are routers with none below them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/cm5/message.hpp"
#include "emulated_hw/kit/fat_tree.hpp"
#include "emulated_hw/kit/wiring.hpp"

namespace am::cm5 {

class Tree {
 public:
  static constexpr NodeNumber most_nodes = 1024;
  static constexpr unsigned children = 4;
  static constexpr unsigned links = 2;  ///< of a node

  /// Throws std::invalid_argument unless there are 2 to 1024 nodes.
  explicit Tree(NodeNumber nodes);

  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] unsigned levels() const noexcept { return shape_.levels(); }
  /// With the leaves that are missing.
  [[nodiscard]] const kit::FatTree& shape() const noexcept { return shape_; }
  /// Routers that a message climbs to, which is one at least.
  [[nodiscard]] unsigned levels_to_climb(NodeNumber from, NodeNumber to) const noexcept {
    return shape_.level_above(from, to) + 1;
  }
  /// Ports of a router are its children, and behind them its parents. Ports of a node are its links.
  [[nodiscard]] kit::Wiring wiring(unsigned flit_cycles) const;

  struct alignas(32) Router {
    NodeNumber first = 0;           ///< node below it
    std::uint8_t bits_of_port = 0;  ///< how far to the right the bits of an address stand that choose a child
    std::uint8_t up = 0;            ///< ports to parents, as bits
    std::uint8_t down = 0;          ///< ports to children that there are
    // At the other ends of its links with routers, by port.
    std::array<std::uint16_t, std::size_t{2} * children> router{};
    std::array<std::uint8_t, std::size_t{2} * children> port{};

    [[nodiscard]] constexpr bool is_lowest() const noexcept { return bits_of_port == 0; }
    [[nodiscard]] constexpr bool has(unsigned its_port) const noexcept {
      return ((up | down) >> its_port & 1) != 0;
    }
    [[nodiscard]] constexpr NodeNumber nodes() const noexcept { return NodeNumber{children} << bits_of_port; }
    [[nodiscard]] constexpr bool has_below(NodeNumber node) const noexcept { return node - first < nodes(); }
    [[nodiscard]] constexpr unsigned child_above(NodeNumber node) const noexcept {
      return node >> bits_of_port & (children - 1);
    }
  };
  /// By number. Routers that are absent have no ports.
  [[nodiscard]] std::vector<Router> routers() const;

 private:
  NodeNumber nodes_;
  kit::FatTree shape_;
};

}  // namespace am::cm5
