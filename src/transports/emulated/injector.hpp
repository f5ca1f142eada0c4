// What a node has for its network, and the network has no room for yet: a few messages, where many slots were claimed before.
//
// `Network` names a machine's live network: Mesh, Message, and inject, carry, ask_for_room of a node, for a message at a priority of libam's.
// Used by the owning node's thread only.
#pragma once

#include <am/types.hpp>
#include <array>
#include <cstddef>

#include "host/zeroed_array.hpp"

namespace am::emulated {

/// The same of a network that messages enter by one channel each (emulated_hw/kit/live_ends_network.hpp).
template <class M, class LiveMessage>
struct EnteredBy {
  using Mesh = M;
  using Message = LiveMessage;
  static bool inject(Mesh& mesh, NodeId node, Priority /*priority*/, const Message& message) noexcept {
    return mesh.inject(node, message);
  }
  static void carry(Mesh& mesh, NodeId node, Priority /*priority*/, const Message& message) noexcept {
    mesh.carry(node, message);
  }
  static bool ask_for_room(Mesh& mesh, NodeId node, Priority /*priority*/, const Message& message) noexcept {
    return mesh.ask_for_room(node, message);
  }
};

template <class Network>
class Injector {
 public:
  using Mesh = typename Network::Mesh;
  using Message = typename Network::Message;

  /// `most`: that are put in at one priority while the network has no room. `any`: by priority, whether there are some; outlives this.
  Injector(Mesh& mesh, NodeId self, std::size_t most, std::array<bool, 2>& any)
      : mesh_(mesh), self_(self), any_(any), waiting_{Waiting(most), Waiting(most)} {}

  void put(Priority priority, const Message& message) noexcept {
    Waiting& out = of(priority);
    if (out.is_empty() && Network::inject(mesh_, self_, priority, message)) return;
    out.messages[out.end++] = message;
    any_[static_cast<std::size_t>(priority)] = true;
    push(priority);
  }
  /// Whether all has gone into the network.
  bool push(Priority priority) noexcept {
    Waiting& out = of(priority);
    for (; !out.is_empty(); ++out.begin) {
      const Message& next = out.messages[out.begin];
      Network::carry(mesh_, self_, priority, next);
      if (!Network::inject(mesh_, self_, priority, next)) {
        out.was_refused = true;
        return false;
      }
      Network::carry(mesh_, self_, priority, next);
    }
    out.begin = out.end = 0;
    any_[static_cast<std::size_t>(priority)] = false;
    return true;
  }
  /// Asks to be told of room that was found lacking since the last forget(). True: there is by now.
  [[nodiscard]] bool room_came() noexcept {
    for (const Priority priority : {Priority::low, Priority::high}) {
      const Waiting& out = of(priority);
      const bool has_come = out.is_empty()
                                ? out.was_refused
                                : Network::ask_for_room(mesh_, self_, priority, out.messages[out.begin]);
      if (has_come) return true;
    }
    return false;
  }
  void forget() noexcept {
    for (Waiting& out : waiting_) out.was_refused = false;
  }

 private:
  struct Waiting {
    explicit Waiting(std::size_t most) : messages(most) {}
    [[nodiscard]] bool is_empty() const noexcept { return begin == end; }
    host::ZeroedArray<Message> messages;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool was_refused = false;
  };
  [[nodiscard]] Waiting& of(Priority priority) noexcept {
    return waiting_[static_cast<std::size_t>(priority)];
  }

  Mesh& mesh_;
  const NodeId self_;
  std::array<bool, 2>& any_;
  std::array<Waiting, 2> waiting_;
};

}  // namespace am::emulated
