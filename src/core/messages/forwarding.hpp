// Multicasts of others on their way down the tree (multicast.cpp): the list of members at the end of their payloads, and how far
// each that a full network holds up has come.
//
// Used by whoever is in the node.
#pragma once

#include <am/events.hpp>
#include <cstring>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "core/messages/sender.hpp"
#include "transports/transport.hpp"

namespace am::core {

/// The list at the end of a multicast payload; the rest is the user's.
struct Members {
  const std::byte* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] NodeId operator[](std::size_t i) const noexcept {
    NodeId id = 0;
    std::memcpy(&id, first + i * sizeof id, sizeof id);
    return id;
  }
  /// All of them, from `least` on and below `end`: whom it is passed on to relies on that, too.
  [[nodiscard]] bool ascend(NodeId least, NodeId end) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId id = (*this)[i];
      if (id < least || id >= end) return false;
      least = id + 1;
    }
    return true;
  }
  [[nodiscard]] Members part(std::size_t from, std::size_t to) const noexcept {
    return {first + from * sizeof(NodeId), to - from};
  }
};

/// Takes the list off a payload that came. False when there is none.
[[nodiscard]] bool split(Payload& payload, Members& members) noexcept;
/// The payload and a list, for the network.
void write_list(std::pmr::vector<std::byte>& buffer, Payload payload, const Members& members);

/// Passes multicasts on.
class Forwarding {
 public:
  struct Outcome {
    bool deferred = false;  ///< a subtree has no room: the packet is to be deferred, and brought again
    const char* malformed =
        nullptr;  ///< why no node of this library can have sent it; then nothing was passed on
  };

  /// For node `self` of `nodes`. The sender outlives this.
  Forwarding(NodeId self, NodeId nodes, Sender& sender, std::pmr::memory_resource* memory)
      : self_(self), nodes_(nodes), sender_(sender), begun_(memory), buffer_(memory) {}

  /// Sends the packet on to the subtrees below this node, and takes the list off the arrival's payload.
  [[nodiscard]] Outcome pass_on(const Transport::View& view, impl::Arrival& arrival);
  /// Nothing is half passed on.
  [[nodiscard]] bool idle() const noexcept { return begun_.empty(); }
  /// What came from `source` is dropped from now on.
  void forget(NodeId source) noexcept;

 private:
  const NodeId self_;
  const NodeId nodes_;
  Sender& sender_;
  std::pmr::unordered_map<std::size_t, std::size_t> begun_;  // deferred ones: how many subtrees have them
  std::pmr::vector<std::byte> buffer_;
};

}  // namespace am::core
