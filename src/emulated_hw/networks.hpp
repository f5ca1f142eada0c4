// Every network under the clock, by the name of its machine: those of textbook routers, and the papers' own.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/textbook_network.hpp"

namespace am::networks {

/// A machine with routers of its own, which the options of textbook routers are not for.
struct Own {
  std::string_view name;
  std::string_view title;  ///< in a sentence
};
inline constexpr std::array<Own, 6> machines{{{"t1", "the T1"},
                                              {"mmachine", "the M-Machine"},
                                              {"ncube2", "the nCUBE/2"},
                                              {"cm5", "the CM-5"},
                                              {"care", "CARE"},
                                              {"iwarp", "the iWarp"}}};
[[nodiscard]] bool has_own_routers(std::string_view machine) noexcept;
/// Their names, and those of kit::topologies, of textbook routers.
[[nodiscard]] std::vector<std::string_view> names();

struct Which {
  std::string machine;  ///< one of names()
  unsigned k = 8;       ///< nodes in each dimension; a hypercube and ncube2 have 2, cm5 has 4
  unsigned n = 2;       ///< dimensions; levels of a tree
  kit::TextbookNetwork::Options textbook{};  ///< of such routers
};
/// A new one. Throws std::invalid_argument.
[[nodiscard]] std::unique_ptr<kit::NodePort> network_of(const Which& which);

}  // namespace am::networks
