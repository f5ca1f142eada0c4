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
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/fingerprint.hpp"
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

    [[nodiscard]] constexpr NodeNumber nodes() const noexcept { return width * height; }
    [[nodiscard]] constexpr NodePlace place_of(NodeNumber node) const noexcept {
      return {static_cast<std::uint8_t>(node % width), static_cast<std::uint8_t>(node / width)};
    }
  };
  /// Of these nodes, by number: y * width + x. They outlive it. Throws std::invalid_argument.
  Mesh(const Shape& shape, std::vector<NetworkUnits*> nodes)
      : shape_(shape),
        grid_(grid_of(shape, nodes.size())),
        nodes_(std::move(nodes)),
        mirrored_(grid_.nodes()),
        to_step_(grid_.nodes(), slots),
        sending_(grid_.nodes()),
        passed_(grid_.nodes()),
        injected_(grid_.nodes()),
        injecting_(grid_.nodes()) {
    if (shape.vacancy_delay == 0 || shape.vacancy_delay >= slots)
      throw std::invalid_argument("mmachine: a vacancy that is known " + std::to_string(shape.vacancy_delay) +
                                  " cycles later: 1 to 7");
    routers_.reserve(grid_.nodes());
    for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
      routers_.emplace_back(place_of(node), shape.channels);
      sending_.put(node);  // what it has been given so far
    }
    for (auto& of_cycle : coming_) of_cycle.resize(std::size_t{grid_.nodes()} * directions);
  }
  Mesh(const Mesh&) = delete;  // bells refer to it
  Mesh& operator=(const Mesh&) = delete;

  [[nodiscard]] const kit::Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return grid_.nodes(); }
  [[nodiscard]] NodePlace place_of(NodeNumber node) const noexcept { return shape_.place_of(node); }
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
  void step(std::span<const NodeNumber> order = {}) {
    sending_.for_each([&](NodeNumber node) {
      to_step_.put(now_, node);
      if (!nodes_[node]->has_outgoing()) sending_.erase(node);
    });
    if (!order.empty()) to_step_.clear(now_);
    to_step_.take(now_, [this](NodeNumber node) { step(node); });
    for (const NodeNumber node : order) step(node);
    ++now_;
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
  void add_waits(kit::Waits& waits) const {
    for (NodeNumber node = 0; node < nodes(); ++node) {
      routers_[node].add_waits(waits, [&](Direction side, unsigned channel) -> std::string {
        const kit::Place there = behind(node, side);
        if (there.router == kit::nowhere) return "the edge";
        return routers_[there.router].place_of(static_cast<Direction>(there.port), channel);
      });
    }
  }

 private:
  static constexpr unsigned slots = 8;  // cycles ahead that something is sent
  /// What comes over a link in a cycle: a flit and a vacancy at most.
  struct Coming {
    Flit flit{};
    std::uint8_t channel = 0;  // of the flit, more by one: 0 is none
    std::uint8_t vacancy = 0;  // a channel, more by one
  };
  /// What a router is connected to, in one step.
  class Ports {
   public:
    Ports(Mesh& mesh, NodeNumber node) noexcept : mesh_(mesh), node_(node), units_(*mesh.nodes_[node]) {}

    const Flit* injected(Priority priority) { return units_.outgoing(priority); }
    std::uint32_t taken(Priority priority) {
      std::uint32_t recorded = kit::Trace::nothing;
      if (mesh_.trace_ != nullptr) [[unlikely]]
        recorded = mesh_.record_injection(node_, priority, *units_.outgoing(priority));
      units_.gone(priority);
      ++mesh_.injected_[node_];
      ++mesh_.under_way_;
      mesh_.last_move_ = mesh_.now_;
      return recorded;
    }
    void send(Direction side, unsigned channel, const Flit& flit) {
      mesh_.moved(flit.word.bits + channel, node_ * directions + index(side));
      mesh_.passes(node_, 1 + index(mesh_.way_of(node_, side)), flit);
      const kit::Place there = mesh_.behind(node_, side);
      if (there.router == kit::nowhere) return lose(side, channel);
      Coming& coming = mesh_.coming(mesh_.now_ + link_cycles, there);
      coming.flit = flit;
      coming.channel = static_cast<std::uint8_t>(channel + 1);
      if (mesh_.disturbance_) mesh_.disturbance_(node_, coming.flit);
      mesh_.to_step_.put(mesh_.now_ + link_cycles, there.router);
    }
    void freed(Direction side, unsigned channel) {
      const kit::Place there = mesh_.behind(node_, side);
      if (there.router != kit::nowhere) tell(there, channel);
    }
    bool accepts(Priority priority) { return units_.has_room(priority); }
    void extracted(Priority priority, const Flit& flit) {
      mesh_.moved(flit.word.bits, ~node_);
      mesh_.passes(node_, 0, flit);
      if (mesh_.trace_ != nullptr && flit.tail) [[unlikely]]
        mesh_.trace_->comes(flit.recorded, node_, mesh_.now_ + 1);
      --mesh_.under_way_;
      units_.deliver(priority, flit);
    }

   private:
    void tell(const kit::Place& there, unsigned channel) {
      const Cycle when = mesh_.now_ + mesh_.shape_.vacancy_delay;
      mesh_.coming(when, there).vacancy = static_cast<std::uint8_t>(channel + 1);
      mesh_.to_step_.put(when, there.router);
    }
    // As if somebody had taken it.
    void lose(Direction side, unsigned channel) {
      ++mesh_.lost_;
      --mesh_.under_way_;
      tell({node_, index(side)}, channel);
    }

    Mesh& mesh_;
    NodeNumber node_;
    NetworkUnits& units_;
  };

  static kit::Grid grid_of(const Mesh::Shape& shape, std::size_t nodes) {
    const std::string size = std::to_string(shape.width) + "x" + std::to_string(shape.height);
    if (shape.width == 0 || shape.height == 0 || shape.width > Mesh::most_extent ||
        shape.height > Mesh::most_extent)
      throw std::invalid_argument("mmachine: a mesh of " + size + ": 1x1 to 32x32");
    if (nodes != std::size_t{shape.width} * shape.height)
      throw std::invalid_argument("mmachine: a mesh of " + size + " for " + std::to_string(nodes) + " nodes");
    if (shape.channels != 2 && shape.channels != most_channels)
      throw std::invalid_argument("mmachine: " + std::to_string(shape.channels) +
                                  " virtual channels: 4, or the prototype's 2");
    return {{shape.width, false}, {shape.height, false}};
  }

  void step(NodeNumber node) {
    Router& router = routers_[node];
    for (unsigned side = 0; side < directions; ++side) {
      const Coming come = std::exchange(coming(now_, {node, side}), {});
      if (come.channel != 0) router.receive(static_cast<Direction>(side), come.channel - 1u, come.flit);
      if (come.vacancy != 0) router.vacancy(static_cast<Direction>(side), come.vacancy - 1u);
    }
    Ports ports(*this, node);
    router.step(ports);
    if (!router.is_idle()) to_step_.put(now_ + 1, node);
  }
  /// Where a side's pins are in the grid.
  [[nodiscard]] Direction way_of(NodeNumber node, Direction side) const noexcept {
    return mirrored_[node][dimension_of(side)] ? opposite(side) : side;
  }
  /// Which node a side's pins lead to, and which of its sides; ports here are sides.
  [[nodiscard]] kit::Place behind(NodeNumber node, Direction side) const noexcept {
    const Direction way = way_of(node, side);
    const NodeNumber there = grid_.neighbour(node, 1 + index(way));
    if (there == kit::nowhere) return {};
    return {there, index(mirrored_[there][dimension_of(side)] ? way : opposite(way))};
  }
  [[nodiscard]] Coming& coming(Cycle when, const kit::Place& place) noexcept {
    return coming_[when % slots][place.router * directions + place.port];
  }
  void moved(std::uint64_t what, NodeNumber where) noexcept {
    // A sum: it does not depend on the order within a cycle.
    fingerprint_ += kit::mixed(kit::mixed(now_, where), what);
    last_move_ = now_;
  }
  void passes(NodeNumber node, unsigned port, const Flit& flit) {
    ++passed_[node][port];
    if (trace_ != nullptr) [[unlikely]]
      trace_->passes(flit.recorded, node, port, now_, 1);
  }
  [[nodiscard]] [[gnu::cold]] std::uint32_t record_injection(NodeNumber from, Priority priority,
                                                             const Flit& flit) {
    auto& [recorded, begun] = injecting_[from][index(priority)];
    if (!begun) {
      const Header header = Header::of(flit.word.bits);
      recorded = trace_->begins(from, number_of(header.destination), static_cast<unsigned>(header.kind()));
    }
    begun = !flit.tail;
    trace_->passes(recorded, from, kit::Trace::injection, now_, 1);
    return recorded;
  }

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
