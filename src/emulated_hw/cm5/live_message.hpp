// What travels through the CM-5's data networks live: a word for a message of up to five words, which lie where its sender wrote them. Here
// it names its source, too, which the machine's does not, and the packet of which it is a piece, as a word of CMAM's long messages does.
#pragma once

#include <cstdint>

#include "emulated_hw/cm5/message.hpp"

namespace am::cm5 {

inline constexpr unsigned live_lanes = 4;              ///< that packets of a pair are numbered in
inline constexpr std::uint32_t live_packets = 1 << 7;  ///< of a lane, which their numbers tell apart

/// What is counted at a node of each other one: pieces of a packet, which come by one of the node's links.
struct Counted {
  unsigned lane;
  std::uint32_t packet;
  unsigned link;
};

struct LiveMessage {
  NodeNumber destination = 0;
  NodeNumber source = 0;
  unsigned lane = 0;
  std::uint32_t packet = 0;
  bool falls = false;  ///< to the closest node, which saves it (all-fall-down)

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return destination | source << 10 | lane << 20 | packet % live_packets << 22 | std::uint32_t{falls} << 29;
  }
  static constexpr LiveMessage of(std::uint32_t bits) noexcept {
    return {.destination = bits & 1023,
            .source = bits >> 10 & 1023,
            .lane = bits >> 20 & (live_lanes - 1),
            .packet = bits >> 22 & (live_packets - 1),
            .falls = (bits >> 29 & 1) != 0};
  }
  [[nodiscard]] constexpr Counted counted(unsigned link) const noexcept { return {lane, packet, link}; }
};

}  // namespace am::cm5
