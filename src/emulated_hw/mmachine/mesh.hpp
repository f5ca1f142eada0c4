// The network of the M-Machine under a clock: up to 32 x 32 routers (router.hpp), linked to their neighbours in both dimensions.
//
// A flit that a router sends is in its neighbour's buffer in the next cycle. So a header that nothing holds up passes a link a cycle
// (Figure 4-9: it leaves in the cycle after it came), and from network output to network input over x + y links it takes x + y + 4
// cycles: the others are the turn buffers, the extraction buffer and the network input. A vacancy is known 5 cycles after the flit has
// left (4.4.2). With these times a message fills a link, since a virtual channel holds 6 flits: the reason that the thesis gives for 6. The
// link's time is assumed, from that.
//
// A chip's pins may be mirrored in a dimension, as where boards are stacked; its router's flipdir then puts that right (4.4.1).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 4.1, 4.4.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/mmachine/router.hpp"

namespace am::mmachine {

using kit::Cycle;
using kit::NodeNumber;

/// A node's network output and input units, as the network sees them.
class NetworkUnits {
 public:
  /// The next flit that is ready; none, and nothing changes until it is taken.
  [[nodiscard]] virtual const Flit* outgoing(Priority priority) = 0;
  virtual void gone(Priority priority) = 0;
  /// Whether there is anything to send, now or later.
  [[nodiscard]] virtual bool has_outgoing() const = 0;
  [[nodiscard]] virtual bool has_room(Priority priority) = 0;
  virtual void deliver(Priority priority, const Flit& flit) = 0;

 protected:
  ~NetworkUnits() = default;
};

class Mesh {
 public:
  static constexpr unsigned most_extent = 32;
  static constexpr unsigned link_cycles = 1;
  static constexpr unsigned vacancy_cycles = 5;

  struct Shape {
    unsigned width = 1;                 ///< along x
    unsigned height = 1;                ///< along y
    unsigned channels = most_channels;  ///< virtual ones of each link: 4, or the prototype's 2 (3.3.3)
    unsigned vacancy_delay = vacancy_cycles;
  };
  /// Of these nodes, by number: y * width + x. They outlive it. Throws std::invalid_argument.
  Mesh(const Shape& shape, std::vector<NetworkUnits*> nodes);
  Mesh(const Mesh&) = delete;  // bells refer to it
  Mesh& operator=(const Mesh&) = delete;

  [[nodiscard]] const kit::Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return grid_.nodes(); }
  [[nodiscard]] NodePlace place_of(NodeNumber node) const noexcept;
  [[nodiscard]] NodeNumber number_of(NodePlace place) const noexcept {
    return place.y * shape_.width + place.x;
  }
  [[nodiscard]] Cycle now() const noexcept { return now_; }

  // -- before anything is sent

  /// This chip's pins of that dimension are the other way round.
  void mirror(NodeNumber node, unsigned dimension) noexcept { mirrored_[node][dimension] = true; }
  void flip(NodeNumber node, unsigned dimension) noexcept { routers_[node].flip(dimension, true); }
  /// May change what passes a link: a fault of the wires. `at` is the node that sends. A wrong tail joins or splits messages, and may hold
  /// a channel for ever.
  using Disturbance = std::function<void(NodeNumber at, Flit& flit)>;
  void disturb(Disturbance disturbance) { disturbance_ = std::move(disturbance); }

  /// Tells it from now on what happens, until it is told otherwise; before any message is sent. It outlives that. Kinds of messages are
  /// those of MessageKind.
  void record(kit::Trace* trace) noexcept { trace_ = trace; }

  /// What a node rings when it has something to send.
  [[nodiscard]] kit::NodeBell bell(NodeNumber node) noexcept { return {sending_, node}; }
  /// One cycle. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {});

  [[nodiscard]] const Router::Counts& counts(NodeNumber node) const noexcept {
    return routers_[node].counts();
  }
  /// Flits that have passed a port of the grid: 0 leads to the node's network input.
  [[nodiscard]] std::uint64_t passed(NodeNumber node, unsigned port) const noexcept {
    return passed_[node][port];
  }
  /// Flits that have come from its network output.
  [[nodiscard]] std::uint64_t injected(NodeNumber node) const noexcept { return injected_[node]; }
  /// Flits that have left the mesh, where it ends: what a fault, a wrong flipdir or a destination outside sends there.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  /// Flits that the network has taken and not delivered.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return under_way_; }
  /// Cycles since anything has last moved.
  [[nodiscard]] Cycle still_for() const noexcept { return now_ - last_move_; }
  /// A number that depends on everything that has passed a link or arrived, when and where.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// Adds the messages that do not get on.
  void add_waits(kit::Waits& waits) const;

 private:
  static constexpr unsigned slots = 8;  // cycles ahead that something is sent
  /// What comes over a link in a cycle: a flit and a vacancy at most.
  struct Coming {
    Flit flit{};
    std::uint8_t channel = 0;  // of the flit, more by one: 0 is none
    std::uint8_t vacancy = 0;  // a channel, more by one
  };
  class Ports;

  void step(NodeNumber node);
  /// Where a side's pins are in the grid.
  [[nodiscard]] Direction way_of(NodeNumber node, Direction side) const noexcept {
    return mirrored_[node][dimension_of(side)] ? opposite(side) : side;
  }
  [[nodiscard]] kit::Place behind(NodeNumber node, Direction side) const noexcept;
  [[nodiscard]] Coming& coming(Cycle when, const kit::Place& place) noexcept {
    return coming_[when % slots][place.router * directions + place.port];
  }
  void moved(std::uint64_t what, NodeNumber where) noexcept;
  void passes(NodeNumber node, unsigned port, const Flit& flit);
  [[nodiscard]] [[gnu::cold]] std::uint32_t record_injection(NodeNumber from, Priority priority,
                                                             const Flit& flit);

  const Shape shape_;
  const kit::Grid grid_;
  const std::vector<NetworkUnits*> nodes_;
  std::vector<Router> routers_;
  std::vector<std::array<bool, 2>> mirrored_;
  std::array<std::vector<Coming>, slots> coming_;  // by node and side
  kit::Calendar to_step_;
  kit::NodeSet sending_;
  std::vector<std::array<std::uint64_t, 1 + directions>> passed_;  // by node and port: flits
  std::vector<std::uint64_t> injected_;                            // by node: flits
  Disturbance disturbance_;
  Cycle now_ = 0;
  Cycle last_move_ = 0;
  std::uint64_t under_way_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t fingerprint_ = 0;
  kit::Trace* trace_ = nullptr;
  /// A message that is being injected.
  struct Injecting {
    std::uint32_t recorded = 0;
    bool begun = false;
  };
  std::vector<std::array<Injecting, priorities>> injecting_;  // by node and priority, for trace_
};

}  // namespace am::mmachine
