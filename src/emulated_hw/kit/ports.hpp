// The words of all topologies: nodes and routers by number, routers' ports, and what a routing function answers, a hop.
#pragma once

#include <bit>
#include <cstdint>

namespace am::kit {

using NodeNumber = std::uint32_t;
using RouterNumber = std::uint32_t;  ///< of a grid or hypercube: its node's
inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

/// Ports as the bits of a word.
using Ports = std::uint32_t;
constexpr Ports port_bit(unsigned port) noexcept { return Ports{1} << port; }

/// One of some ports, each as likely as the others where all values of `random` are.
[[nodiscard]] constexpr unsigned one_of(Ports ports, std::uint32_t random) noexcept {
  auto before =
      static_cast<unsigned>(std::uint64_t{random} * static_cast<unsigned>(std::popcount(ports)) >> 32);
  for (; before != 0; --before) ports &= ports - 1;
  return static_cast<unsigned>(std::countr_zero(ports));
}

/// Where a channel ends.
struct Place {
  RouterNumber router = nowhere;
  unsigned port = 0;
  constexpr bool operator==(const Place&) const = default;
};

/// A link, by the end that sends: a port of a router, or a node.
struct Link {
  static constexpr unsigned of_node = 255;  ///< in place of a port

  std::uint32_t from = 0;
  unsigned port = of_node;
  constexpr bool operator==(const Link&) const = default;
};

/// How a packet came to a router: by which port, and on which class of virtual channels.
struct Came {
  unsigned port = 0;
  unsigned vc_class = 0;
};

/// Where a packet goes next.
struct Hop {
  unsigned port = 0;        ///< of a grid or hypercube, 0: it is there
  unsigned classes = 0b11;  ///< of virtual channels that it may take, as bits
  constexpr bool operator==(const Hop&) const = default;
};

}  // namespace am::kit
