// Multicasts of others on their way: sent on (multicast_sender.hpp) to all to whom this node passes them on, or to none yet.
//
// Used by whoever is in the node.
#pragma once

#include <am/events.hpp>
#include <memory_resource>
#include <unordered_set>
#include <vector>

#include "core/messages/members.hpp"
#include "core/messages/multicast_sender.hpp"
#include "core/messages/sender.hpp"
#include "transports/transport.hpp"

namespace am::core {

/// Passes multicasts on.
class Forwarding {
 public:
  struct Outcome {
    bool deferred = false;  ///< somebody has no room: the packet is to be deferred, and brought again
    const char* malformed =
        nullptr;  ///< why no node of this library can have sent it; then nothing was passed on
  };

  /// For node `self` of `nodes`. `multicasts` outlives this.
  Forwarding(NodeId self, NodeId nodes, MulticastSender& multicasts, std::pmr::memory_resource* memory)
      : self_(self), nodes_(nodes), multicasts_(multicasts), deferred_(memory), share_(memory) {}

  /// Sends the packet on to those for whom this node is to do so, and takes the list off the arrival's payload.
  [[nodiscard]] Outcome pass_on(const Transport::View& view, impl::Arrival& arrival);
  /// Nothing that came waits to be passed on.
  [[nodiscard]] bool idle() const noexcept { return deferred_.empty(); }
  /// What came from `source` is dropped from now on.
  void forget(NodeId source) noexcept;

 private:
  const NodeId self_;
  const NodeId nodes_;
  MulticastSender& multicasts_;
  std::pmr::unordered_set<std::size_t> deferred_;  // links whose first packet waits to be passed on
  MulticastSender::List share_;                    // of the packet that is passed on
};

}  // namespace am::core
