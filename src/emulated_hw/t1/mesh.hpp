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
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/fingerprint.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/text.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/t1/network_interface.hpp"
#include "emulated_hw/t1/router.hpp"

namespace am::t1 {

using Cycle = kit::Cycle;

class Mesh {
 public:
  using Shape = t1::Shape;
  static constexpr unsigned router_cycles = 2;
  static constexpr unsigned link_cycles = 1;
  static constexpr unsigned credit_cycles = 1;
  static constexpr unsigned node_buffers =
      2;  ///< messages of each priority between router and interface: one comes, one waits

  /// Of these interfaces, by node: row * columns + column. They outlive it. Throws std::invalid_argument.
  Mesh(const Shape& shape, const std::function<NetworkInterface*(NodeNumber)>& interface_of)
      : shape_(shape), grid_(grid_of(shape)), routers_(grid_.nodes()), to_step_(grid_.nodes()) {
    if (shape.buffers == 0 || shape.buffers > 255)
      throw std::invalid_argument(kit::text_of("t1: buffers of ", shape.buffers, " messages: 1 to 255"));
    for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
      for (unsigned output = 0; output < channels; ++output) {
        const bool leads_on = grid_.neighbour(node, output / vcs) != kit::Grid::nowhere;
        const unsigned room = output < vcs ? node_buffers : leads_on ? shape.buffers : 0;
        routers_[node].room[output] = static_cast<std::uint8_t>(room);
      }
      interfaces_.push_back(interface_of(node));
      interfaces_.back()->rings({to_step_, node});
      to_step_.put(node);  // what it has been given so far
    }
  }
  ~Mesh() {
    for (NetworkInterface* const interface : interfaces_) interface->rings({});
  }
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  [[nodiscard]] const kit::Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }
  /// One cycle. `order`: if given, all nodes, in the order in which they are stepped.
  void step(std::span<const NodeNumber> order = {}) {
    credits_.take(now_, [this](const Credit& credit) { ++routers_[credit.node].room[credit.output]; });
    if (order.empty()) {
      to_step_.for_each([this](NodeNumber node) { step(node); });
    } else {
      for (const NodeNumber node : order) step(node);
    }
    ++now_;
  }
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
  void add_waits(kit::Waits& waits) const {
    for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
      add_who_waits_to_enter(node, waits);
      kit::for_each(routers_[node].occupied, [&](unsigned input) { add_who_waits(node, input, waits); });
    }
  }

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

  static Header header_of(const Message& message) noexcept {
    return {message.destination, message.multicast};
  }
  void step(NodeNumber node) {
    deliver(node);
    inject(node);
    if (routers_[node].occupied != 0) route(node);
    if (!has_something_to_do(node)) to_step_.erase(node);
  }
  [[nodiscard]] bool has_something_to_do(NodeNumber node) const noexcept {
    const Router& router = routers_[node];
    const NetworkInterface& ni = *interfaces_[node];
    return router.occupied != 0 || !router.to_node[0].empty() || !router.to_node[1].empty() ||
           ni.outgoing(Priority::low) || ni.outgoing(Priority::high);
  }
  void deliver(NodeNumber node) {
    for (const Priority priority : {Priority::high, Priority::low}) {
      std::deque<Packet>& waiting = routers_[node].to_node[index(priority)];
      if (waiting.empty() || waiting.front().leaves_at > now_ || !interfaces_[node]->has_room(priority))
        continue;
      interfaces_[node]->deliver(waiting.front().message);
      if (trace_ != nullptr) [[unlikely]]
        trace_->comes(waiting.front().recorded, node, now_);
      waiting.pop_front();
      give_back(now_ + credit_cycles, node, channel(0, priority, 0));
      --under_way_;
      last_move_ = now_;
    }
  }
  void inject(NodeNumber node) {
    Router& router = routers_[node];
    if (router.interface_free_at > now_) return;
    for (const Priority priority : {Priority::high, Priority::low}) {
      const std::optional<Message>& out = interfaces_[node]->outgoing(priority);
      if (!out) continue;
      if (out->destination >= grid_.nodes())
        throw Exception(kit::text_of("node ", node, ": a message to node ", out->destination,
                                     ", outside the mesh of ", grid_.nodes()));
      const unsigned input = channel(0, priority, 0);
      if (router.inputs[input].size() >= shape_.buffers) continue;
      router.put(input, {*out, node, 0, now_ + link_cycles + router_cycles, record(node, *out)});
      ++under_way_;
      router.interface_free_at = now_ + out->flits();
      router.injected += out->flits();
      interfaces_[node]->gone(priority);
      last_move_ = now_;
      return;
    }
  }
  /// What the trace calls a message that leaves its interface.
  [[nodiscard]] std::uint32_t record(NodeNumber from, const Message& message) {
    if (trace_ == nullptr) [[likely]]
      return kit::Trace::nothing;
    const std::uint32_t number =
        trace_->begins(from, message.destination, index(message.priority) + (message.multicast ? 2 : 0));
    trace_->passes(number, from, kit::Trace::injection, now_, message.flits());
    return number;
  }
  void route(NodeNumber node) {
    Router& router = routers_[node];
    kit::Ports free_inputs = 0, free_outputs = 0;
    for (unsigned port = 0; port < ports; ++port) {
      if (router.input_free_at[port] <= now_) free_inputs |= kit::port_bit(port);
      if (router.output_free_at[port] <= now_) free_outputs |= kit::port_bit(port);
    }
    decide(
        grid_, node, router.occupied, free_inputs, free_outputs, router.turns, shape_.patience,
        [&](unsigned input) -> std::optional<Header> {
          const Packet& packet = router.inputs[input].front();
          if (packet.leaves_at > now_) return std::nullopt;
          return header_of(packet.message);
        },
        [&](unsigned /*input*/, unsigned output) { return router.room[output] != 0; },
        [&](unsigned /*input*/, unsigned output) { ++router.counts[output / vcs].refused; },
        [&](unsigned input, const Way& way) { start(node, input, way); });
  }
  void start(NodeNumber node, unsigned input, const Way& way) {
    Router& router = routers_[node];
    const Packet packet = router.inputs[input].front();
    router.inputs[input].pop_front();
    if (router.inputs[input].empty()) router.occupied &= ~kit::request(input);
    --under_way_;
    const unsigned in = input / vcs;
    const unsigned flits = packet.message.flits();
    router.input_free_at[in] = now_ + flits;
    if (in != 0)  // of the interface's channel inject() sees itself what room it has
      give_back(now_ + flits - 1 + credit_cycles, grid_.neighbour(node, in),
                kit::Grid::opposite(in) * vcs + input % vcs);
    for (const std::uint8_t output : way.outputs()) {
      const unsigned port = output / vcs;
      ++under_way_;
      --router.room[output];
      router.output_free_at[port] = now_ + flits;
      router.counts[port].flits += flits;
      fingerprint_ += kit::mixed(kit::mixed(now_, node * channels + output),
                                 packet.message.scalar[0] + std::uint64_t{packet.source} * most_nodes);
      if (trace_ != nullptr) [[unlikely]]
        trace_->passes(packet.recorded, node, port, now_, flits);
      if (port == 0) {
        router.to_node[index(packet.message.priority)].push_back(
            {packet.message, packet.source, in, now_ + link_cycles + flits - 1, packet.recorded});
      } else {
        const NodeNumber neighbour = grid_.neighbour(node, port);
        const unsigned to = kit::Grid::opposite(port);
        routers_[neighbour].put(
            to * vcs + output % vcs,
            {packet.message, packet.source, to, now_ + link_cycles + router_cycles, packet.recorded});
        to_step_.put(neighbour);
      }
    }
    last_move_ = now_;
  }
  void give_back(Cycle when, NodeNumber node, unsigned output) {
    credits_.put(when, {node, static_cast<std::uint8_t>(output)});
  }

  // As kit::Waits names them. Of the classes of a ring's channels, one is named.
  static std::string place_of(NodeNumber node, unsigned input) {
    return kit::text_of("node ", node, " port ", input / vcs, ' ', name_of(priority_of(input)),
                        input == channel(input / vcs, priority_of(input), 1) ? " class 1" : "");
  }
  struct Filled {
    std::string text;
    std::string place;
  };
  /// Who it is that a message waits for when there is no room behind an output: for people, and as a place.
  [[nodiscard]] Filled filled(NodeNumber node, unsigned output) const {
    const unsigned port = output / vcs;
    if (port == 0) {
      const std::string here = kit::text_of("node ", node);
      return {kit::text_of(", where ", here, " takes none of that priority"), here};
    }
    const NodeNumber next = grid_.neighbour(node, port);
    const unsigned input = kit::Grid::opposite(port) * vcs + output % vcs;
    const std::deque<Packet>& full = routers_[next].inputs[input];
    std::string text = kit::text_of(", no room at node ", next);
    text += full.empty() ? " yet"
                         : kit::text_of(" behind that from node ", full.front().source, " to node ",
                                        full.front().message.destination);
    return {std::move(text), place_of(next, input)};
  }
  /// Messages that have no room in the router yet: their processor's next SEND fails.
  void add_who_waits_to_enter(NodeNumber node, kit::Waits& waits) const {
    for (const Priority priority : {Priority::low, Priority::high}) {
      const std::optional<Message>& out = interfaces_[node]->outgoing(priority);
      const std::deque<Packet>& full = routers_[node].inputs[channel(0, priority, 0)];
      if (!out || full.empty()) continue;
      waits.add(
          place_in_interface(node, priority),
          kit::text_of("node ", node, ": a ", name_of(priority), " message to node ", out->destination,
                       " in its interface waits behind that to node ", full.front().message.destination),
          {place_of(node, channel(0, priority, 0))});
    }
  }
  void add_who_waits(NodeNumber node, unsigned input, kit::Waits& waits) const {
    const Packet& packet = routers_[node].inputs[input].front();
    std::string line =
        kit::text_of("node ", node, ": a ", name_of(packet.message.priority), " message from node ",
                     packet.source, " to node ", packet.message.destination, " at port ", input / vcs);
    std::vector<std::string> behind;
    const Way way = way_of(grid_, node, input, header_of(packet.message));
    for (const std::uint8_t output : way.outputs()) {
      line += kit::text_of(output == way.output[0] ? " waits for port " : " and port ", output / vcs);
      if (routers_[node].room[output] != 0) continue;
      Filled by = filled(node, output);
      line += by.text;
      behind.push_back(std::move(by.place));
    }
    waits.add(place_of(node, input), std::move(line), std::move(behind));
  }

  const Shape shape_;
  const kit::Grid grid_;
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
