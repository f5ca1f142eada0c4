// What a T1 router decides (T1 report, 3.3, 3.5, 3.9, A.1): where a message goes from here, and which of those that wait go now. The
// same for both substrates, which differ in what a channel is and in what it takes to move a message (mesh.hpp, live_mesh.hpp).
//
// Ports are those of the grid: 0 is the network interface. Each port has a channel for each priority and each class around a ring.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/packet_turns.hpp"
#include "emulated_hw/t1/message.hpp"

namespace am::t1 {

using kit::NodeNumber;

inline constexpr unsigned ports = 5;
inline constexpr unsigned classes = 2;
inline constexpr unsigned vcs = 2 * classes;
inline constexpr unsigned channels = ports * vcs;
inline constexpr unsigned most_nodes = 1024;    ///< of a CNS-1: assumed
inline constexpr unsigned default_buffers = 4;  ///< messages in each channel: assumed
inline constexpr unsigned default_patience =
    16;  ///< losses until a low message goes before high ones: assumed

constexpr unsigned channel(unsigned port, Priority priority, unsigned vc_class) noexcept {
  return port * vcs + index(priority) * classes + vc_class;
}
constexpr Priority priority_of(unsigned channel) noexcept {
  return channel / classes % 2 == index(Priority::high) ? Priority::high : Priority::low;
}

/// A network: routers of `rows` by `columns` nodes.
struct Shape {
  unsigned rows = 1;
  unsigned columns = 1;
  bool wraps = true;                     ///< each row is a ring
  unsigned buffers = default_buffers;    ///< messages in each channel
  unsigned patience = default_patience;  ///< losses until a low message goes before high ones
};
/// Dimension 0 along a row: node row * columns + column. Throws std::invalid_argument.
[[nodiscard]] kit::Grid grid_of(const Shape& shape);

/// What a router reads of a message.
struct Header {
  NodeNumber destination = 0;
  bool multicast = false;
};

/// The next port of a message that came by port `in`, and the class of channels there; port 0 at its end.
struct Hop {
  unsigned port;
  unsigned vc_class;
};
// A multicast keeps its direction, also where the other one would be as short: it may be on its way round to its sender.
template <class Grid>
constexpr Hop next_hop(const Grid& grid, NodeNumber here, unsigned in, const Header& message) noexcept {
  const NodeNumber there = message.destination;
  const bool all_the_way = message.multicast && here == there && in == 0 && grid.dimension(0).wraps &&
                           grid.dimension(0).extent > 1;
  const bool along_the_row = in == kit::Grid::up(0) || in == kit::Grid::down(0);
  const std::uint32_t at = grid.at(here, 0);
  const std::uint32_t to = grid.at(there, 0);
  if (all_the_way || (message.multicast && along_the_row && at != to && grid.dimension(0).wraps)) {
    const bool goes_up = all_the_way || in == kit::Grid::down(0);  // it came from below
    const bool passes_edge = all_the_way || (goes_up ? at > to : at < to);
    return {goes_up ? kit::Grid::up(0) : kit::Grid::down(0), passes_edge ? 0u : 1u};
  }
  const kit::Hop hop = kit::dimension_order(grid, here, there);
  return {hop.port, hop.classes == 0b10 ? 1u : 0u};
}

/// The channels by which a message leaves: one, or, of a multicast on its way, also the node's, for the copy that stays here.
struct Way {
  kit::Ports ports;
  std::array<std::uint8_t, 2> output;
  std::uint8_t count;

  [[nodiscard]] std::span<const std::uint8_t> outputs() const noexcept {
    return std::span(output).first(count);
  }
};
template <class Grid>
constexpr Way way_of(const Grid& grid, NodeNumber here, unsigned input, const Header& message) noexcept {
  Way way{};
  const auto add = [&](unsigned port, unsigned vc_class) {
    way.ports |= kit::port_bit(port);
    way.output[way.count++] = static_cast<std::uint8_t>(channel(port, priority_of(input), vc_class));
  };
  const unsigned in = input / vcs;
  const Hop hop = next_hop(grid, here, in, message);
  add(hop.port, hop.vc_class);
  if (message.multicast && hop.port != 0 && in != 0) add(0, 0);
  return way;
}

/// One decision. Of the inputs `occupied`, by channel, header(input) is that of the first message, or none if it cannot go yet;
/// has_room(input, output) says whether it may go there, and refused(input, output) is told when it may not. start(input, way) is
/// called for each message that goes now; `from` and `to` are the ports that carry nothing.
template <class Grid, class Turns, class GetHeader, class HasRoom, class Refused, class Start>
void decide(const Grid& grid, NodeNumber here, kit::Requests occupied, kit::Ports from, kit::Ports to,
            Turns& turns, unsigned patience, GetHeader header, HasRoom has_room, Refused refused,
            Start start) {
  const auto is_ready = [&](unsigned input, Way& way) {
    const std::optional<Header> first = header(input);
    if (!first) return false;
    way = way_of(grid, here, input, *first);
    for (const std::uint8_t output : way.outputs()) {
      if (has_room(input, output)) continue;
      refused(input, output);
      return false;
    }
    return true;
  };
  if (kit::is_one(occupied)) {  // as below, without anybody to lose against
    const auto input = static_cast<unsigned>(std::countr_zero(occupied));
    Way way;
    if (!is_ready(input, way)) return;
    if ((way.ports & ~to) != 0 || (kit::port_bit(input / vcs) & from) == 0) return;
    turns.goes_alone(input);
    start(input, way);
    return;
  }
  kit::Ready ready;
  std::array<Way, channels> ways;  // of those who are ready
  kit::for_each(occupied, [&](unsigned input) {
    if (!is_ready(input, ways[input])) return;
    (priority_of(input) == Priority::high ? ready.high : ready.low) |= kit::request(input);
    ready.wants[input] = ways[input].ports;
    ready.port_of[input] = static_cast<std::uint8_t>(input / vcs);
  });
  if ((ready.high | ready.low) == 0) return;
  turns.decide(ready, from, to, patience, [&](unsigned input) { start(input, ways[input]); });
}

}  // namespace am::t1
