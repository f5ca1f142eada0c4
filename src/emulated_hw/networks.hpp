// Every network under the clock, by the name of its machine: those of textbook routers, and the papers' own.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/textbook_network.hpp"

namespace am::networks {

struct Which {
  std::string machine;  ///< t1, mmachine, ncube2, cm5, care, iwarp, or a topology of textbook routers
  unsigned k = 8;       ///< nodes in each dimension; a hypercube and ncube2 have 2, cm5 has 4
  unsigned n = 2;       ///< dimensions; levels of a tree
  kit::TextbookNetwork::Options textbook{};  ///< of such routers
};

inline constexpr std::array<std::string_view, 10> machines{
    "t1", "mmachine", "ncube2", "cm5", "care", "iwarp", "mesh", "torus", "hypercube", "fattree"};
/// Whether a machine of these has routers of its own, which the options of textbook routers are not for.
[[nodiscard]] bool has_own_routers(std::string_view machine) noexcept;

/// A new one. Throws std::invalid_argument.
[[nodiscard]] std::unique_ptr<kit::NodePort> network_of(const Which& which);

}  // namespace am::networks
