// The network of the CNS-1 under a clock: T1 routers on a mesh that wraps in one dimension (T1 report, 3.2, 3.3, 3.5, 3.9).
//
//      network interface           each input port has a channel for each priority and class, with
//             |                    room for `buffers` messages; each output port carries one message
//   left --[router]-- right        at a time, of any of its channels: "the same physical links are
//             |                    demand-multiplexed between the two priorities" (3.5)
//          up, down
//
// The report gives the network's properties, and no router. Here, assumed: a router hands on whole messages as their heads come
// (virtual cut-through), a flit of 128 bits per cycle and link, `router_cycles` from the head's arrival to its leaving when nothing is
// in the way, `link_cycles` on the wire. So a message of n flits over h links is there after
// link + (h + 1) (router + link) + n - 1 cycles. What follows from it:
//
//   in order          one way between two nodes, and each channel is a queue (3.3)
//   nothing dropped   a message goes where there is room for all of it, back to lpa and hpa (A.1, A.10)
//   high passes low   its channels have rooms of their own, and it goes first on each link (A.1)
//   multicast         at each node on the way the message goes on and to the node in the same cycles: a copy costs no time (3.9)
//   no deadlock       a message holds no port while it waits for room. Rooms are waited for in an order: dimension by dimension, around a
//                     ring class 0 before class 1 (kit/dimension_order.hpp), at last the node's. The nodes have to take what comes.
//
// A multicast whose destination is its sender goes all the way round its ring (3.9); a message to itself does not leave its router.
// One to a node in another row and column leaves copies on its way there, first along the row: the report leaves that open.
//
// Within a cycle, what routers do to each other is to be seen in a later one: so it cannot be seen in which order they are stepped.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/t1/network_interface.hpp"
#include "emulated_hw/t1/router.hpp"

namespace am::t1 {

using Cycle = kit::Cycle;

/// The place in kit::Waits of a message that a node's processor has sent, and the router has not taken.
[[nodiscard]] std::string place_in_interface(NodeNumber node, Priority priority);

class Mesh {
 public:
  using Shape = t1::Shape;
  static constexpr unsigned router_cycles = 2;
  static constexpr unsigned link_cycles = 1;
  static constexpr unsigned credit_cycles = 1;
  static constexpr unsigned node_buffers =
      2;  ///< messages of each priority between router and interface: one comes, one waits

  /// Of these interfaces, by node: row * columns + column. They outlive it. Throws std::invalid_argument.
  Mesh(const Shape& shape, const std::function<NetworkInterface*(NodeNumber)>& interface_of);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  [[nodiscard]] const kit::Grid& grid() const noexcept { return grid_.plain(); }
  [[nodiscard]] Cycle now() const noexcept { return now_; }
  /// One cycle. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {});
  /// Tells it from now on what happens, until it is told otherwise; before any message is sent. It outlives that.
  void record(kit::Trace* trace) noexcept { trace_ = trace; }

  /// Messages that the network has taken and not delivered, a multicast counted once for each copy that is still to come at once.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return under_way_; }
  /// No message is under way, and none waits in an interface to be.
  [[nodiscard]] bool is_idle() const noexcept { return to_step_.empty(); }
  struct Counts {
    std::uint64_t flits = 0;    ///< that the port has carried
    std::uint64_t refused = 0;  ///< cycles in which a message stood before it that had no room behind it
  };
  [[nodiscard]] const Counts& counts(NodeNumber node, unsigned port) const noexcept {
    return routers_[node].counts[port];
  }
  /// Flits that have come from its interface.
  [[nodiscard]] std::uint64_t injected(NodeNumber node) const noexcept { return routers_[node].injected; }
  /// A number that depends on everything that has left a router, when and where.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// Cycles since anything has last moved.
  [[nodiscard]] Cycle still_for() const noexcept { return now_ - last_move_; }
  /// Adds the first message of each channel, and what waits in interfaces. A node that has no room is the place "node N".
  void add_waits(kit::Waits& waits) const;

 private:
  static constexpr unsigned most_delay = 16;  // of a credit

  struct Packet {
    Message message;
    NodeNumber source;
    unsigned in;             // the port that it came by
    Cycle leaves_at;         // not before
    std::uint32_t recorded;  // what trace_ calls it
  };
  struct Router {
    std::array<std::deque<Packet>, channels> inputs;
    std::array<std::uint8_t, channels> room{};  // messages behind an output
    std::array<Cycle, ports> input_free_at{};
    std::array<Cycle, ports> output_free_at{};
    std::array<Counts, ports> counts{};
    std::uint64_t injected = 0;                   // flits
    std::array<std::deque<Packet>, 2> to_node{};  // by priority: has left, leaves_at says when it is whole
    Cycle interface_free_at = 0;
    Turns<std::uint8_t> turns{};
    kit::Requests occupied = 0;  // inputs with a message

    void put(unsigned input, const Packet& packet) {
      inputs[input].push_back(packet);
      occupied |= kit::request(input);
    }
  };
  struct Credit {
    NodeNumber node;
    std::uint8_t output;
  };

  void step(NodeNumber node);
  [[nodiscard]] bool has_something_to_do(NodeNumber node) const noexcept;
  void deliver(NodeNumber node);
  void inject(NodeNumber node);
  /// What the trace calls a message that leaves its interface.
  [[nodiscard]] std::uint32_t record(NodeNumber from, const Message& message);
  void route(NodeNumber node);
  void add_who_waits_to_enter(NodeNumber node, kit::Waits& waits) const;
  void add_who_waits(NodeNumber node, unsigned input, kit::Waits& waits) const;
  struct Filled {
    std::string text;
    std::string place;
  };
  [[nodiscard]] Filled filled(NodeNumber node, unsigned output) const;
  void start(NodeNumber node, unsigned input, const Way& way);
  void give_back(Cycle when, NodeNumber node, unsigned output) {
    credits_.put(when, {node, static_cast<std::uint8_t>(output)});
  }

  const Shape shape_;
  const kit::MappedGrid grid_;
  std::vector<NetworkInterface*> interfaces_;
  std::vector<Router> routers_;
  kit::DelayLine<Credit> credits_{most_delay};
  Cycle now_ = 0;
  Cycle last_move_ = 0;
  std::uint64_t under_way_ = 0;
  std::uint64_t fingerprint_ = 0;
  kit::NodeSet to_step_;  // nodes with a message in their router, or waiting to get into it
  kit::Trace* trace_ = nullptr;
};

}  // namespace am::t1
