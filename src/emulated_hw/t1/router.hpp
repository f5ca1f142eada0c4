// What a T1 router decides (T1 report, 3.3, 3.5, 3.9, A.1): where a message goes from here, and which of those that wait go now. The
// same for both substrates, which differ in what a channel is and in what it takes to move a message (mesh.hpp, live_mesh.hpp).
//
// Ports are those of the grid: 0 is the network interface. Each port has a channel for each priority and each class around a ring.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/grid.hpp"
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
inline constexpr unsigned most_patience = 255;
/// Dimension 0 along a row: node row * columns + column. Throws std::invalid_argument.
[[nodiscard]] inline kit::Grid grid_of(const Shape& shape) {
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > most_nodes || shape.columns > most_nodes ||
      shape.rows * shape.columns > most_nodes)
    throw std::invalid_argument("t1: a mesh of " + std::to_string(shape.rows) + " rows and " +
                                std::to_string(shape.columns) + " columns: it has 1 to " +
                                std::to_string(most_nodes) + " nodes");
  if (shape.patience > most_patience)
    throw std::invalid_argument("t1: a patience of " + std::to_string(shape.patience) + ": at most 255");
  return {{.extent = shape.columns, .wraps = shape.wraps}, {.extent = shape.rows, .wraps = false}};
}

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
inline Hop next_hop(const kit::Grid& grid, NodeNumber here, unsigned in, const Header& message) noexcept {
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
inline Way way_of(const kit::Grid& grid, NodeNumber here, unsigned input, const Header& message) noexcept {
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

/// First messages that are ready: those for which there is room behind all outputs of their way.
struct Ready {
  kit::Requests high = 0;
  kit::Requests low = 0;
  std::array<Way, channels> way;  ///< by input, of those
};

/// Which of the messages that are ready leave a router that hands on whole ones; a port carries one at a time.
///
/// High priority goes before low, and among equals whoever has lost most often: was ready, and saw others get what it wanted. After
/// `patience` losses it escapes: it goes before all, and what it wants is kept for it until it can go. So nobody who stays ready waits for
/// ever; what is kept for it comes free by itself, since what passes a port has all its room already.
///
/// A decision is a function of what is ready and of who lost before; it knows no time. `Count` is a number up to most_patience.
template <class Count>
class Turns {
 public:
  /// Calls start(input) for each message that is to go now. `from` and `to` are the ports that carry nothing.
  template <class Start>
  void decide(const Ready& ready, kit::Ports from, kit::Ports to, unsigned patience, Start&& start) {
    Decision now{ready, from, to};
    kit::Requests escaped = 0;
    kit::for_each(ready.high | ready.low, [&](unsigned input) {
      if (losses_[input] >= patience) escaped |= kit::request(input);
    });
    pass(now, escaped, true, start);
    pass(now, ready.high & ~escaped, false, start);
    pass(now, ready.low & ~escaped, false, start);
    kit::for_each((ready.high | ready.low) & ~now.started, [&](unsigned input) {
      if ((ready.way[input].ports & now.given) != 0 && losses_[input] < most_patience)
        losses_[input] = static_cast<std::uint8_t>(losses_[input] + 1);
    });
  }

  /// The same where only this input's message is ready, and can go.
  void goes_alone(unsigned input) noexcept {
    if (losses_[input] != 0) losses_[input] = 0;
  }

 private:
  struct Decision {
    const Ready& ready;
    kit::Ports from;
    kit::Ports to;
    kit::Ports given = 0;
    kit::Requests started = 0;
  };

  template <class Start>
  void pass(Decision& now, kit::Requests who, bool keep, Start&& start) {
    while (who != 0) {
      const unsigned input = most_often_lost(who);
      who &= ~kit::request(input);
      const kit::Ports wants = now.ready.way[input].ports;
      const kit::Ports from = kit::port_bit(input / vcs);
      if ((wants & ~now.to) == 0 && (from & now.from) != 0) {
        now.from &= ~from;
        now.to &= ~wants;
        now.given |= wants;
        now.started |= kit::request(input);
        losses_[input] = 0;
        start(input);
      } else if (keep) {
        now.to &= ~wants;
      }
    }
  }

  [[nodiscard]] unsigned most_often_lost(kit::Requests who) const noexcept {
    unsigned most = kit::first_of(who);
    kit::for_each(who, [&](unsigned input) {
      if (losses_[input] > losses_[most]) most = input;
    });
    return most;
  }

  std::array<Count, channels> losses_{};  // by input, since its first message has come
};

/// One decision. Of the inputs `occupied`, by channel, header(input) is that of the first message, or none if it cannot go yet;
/// has_room(input, output) says whether it may go there, and refused(input, output) is told when it may not. start(input, way) is
/// called for each message that goes now; `from` and `to` are the ports that carry nothing.
template <class Count, class GetHeader, class HasRoom, class Refused, class Start>
void decide(const kit::Grid& grid, NodeNumber here, kit::Requests occupied, kit::Ports from, kit::Ports to,
            Turns<Count>& turns, unsigned patience, GetHeader header, HasRoom has_room, Refused refused,
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
    const unsigned input = kit::first_of(occupied);
    Way way;
    if (!is_ready(input, way)) return;
    if ((way.ports & ~to) != 0 || (kit::port_bit(input / vcs) & from) == 0) return;
    turns.goes_alone(input);
    start(input, way);
    return;
  }
  Ready ready;
  kit::for_each(occupied, [&](unsigned input) {
    if (is_ready(input, ready.way[input]))
      (priority_of(input) == Priority::high ? ready.high : ready.low) |= kit::request(input);
  });
  if ((ready.high | ready.low) == 0) return;
  turns.decide(ready, from, to, patience, [&](unsigned input) { start(input, ready.way[input]); });
}

}  // namespace am::t1
