// What live networks have in common whose messages move as a whole, and enter by one channel each (live_ends_carrier.hpp): how they enter, and
// how they are counted where they end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/live_ends_carrier.hpp"

namespace am::kit {

/// `Message` is what travels: bits(), of(bits), its `source`, and counted(), as what it counts at its end. `Mesh` derives from this, and says
/// by entrance(node, message) which channel that enters by.
template <class Mesh, class Router, class Message>
class LiveEndsNetwork : public LiveNetwork<Mesh, Router> {
 public:
  using Counted = decltype(Message{}.counted());
  /// For tests too, which stop and end carriers.
  template <class Pause = NoPause>
  using Carrier = LiveEndsCarrier<Mesh, Pause>;
  using Nodes = LiveNodes<Counted>;

  /// As LiveNetwork. `nodes` outlives this.
  LiveEndsNetwork(NodeNumber count, std::uint32_t shape, std::byte* memory, Nodes& nodes)
      : LiveNetwork<Mesh, Router>(count, shape, memory), nodes_(nodes) {}

  // By the node itself, one thread at a time.

  /// Puts a message into the network: false, and nothing has happened, where there is no room. carry(node, message) is to follow.
  [[nodiscard]] bool inject(NodeNumber node, const Message& message) noexcept {
    return this->put(node, Mesh::entrance(node, message), message.bits(), 1, HeldChannel::slots);
  }
  /// Asks for Nodes::has_room when inject() would find room. True: it would by now.
  [[nodiscard]] bool ask_for_room(NodeNumber node, const Message& message) noexcept {
    return this->ask_for_room_at(node, Mesh::entrance(node, message), HeldChannel::slots);
  }

  // By anybody.

  /// Moves what can move, beginning with what this node has injected where that message enters: until nothing can, or for many steps.
  void carry(NodeNumber node, const Message& message) noexcept {
    this->carry_from(node, Mesh::entrance(node, message));
  }

  // For carriers.

  using Arrival = LiveArrival<Counted>;

  [[nodiscard]] Nodes& nodes() const noexcept { return nodes_; }
  [[nodiscard]] static Arrival arrival(NodeNumber at, std::uint32_t packet) noexcept {
    const Message message = Message::of(packet);
    return {at, message.source, message.counted()};
  }
  [[nodiscard]] std::atomic<Word>& count(NodeNumber at, std::uint32_t packet) const noexcept {
    const Arrival its = arrival(at, packet);
    return nodes_.arrivals(its.at, its.from, its.what);
  }
  /// A network in which packets change has one of its own.
  [[nodiscard]] static std::uint32_t packet_at(NodeNumber /*at*/, unsigned /*output*/, std::uint32_t packet,
                                               Requests /*fate*/) noexcept {
    return packet;
  }

 private:
  template <class, class>
  friend class LiveEndsCarrier;

  Nodes& nodes_;
};

}  // namespace am::kit
