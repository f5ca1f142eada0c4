// Multicasts of others on their way: down the tree (multicast.cpp), and how far each that a full network holds up has come; or, where
// the network has multicasts of its own, by these (multicast_sender.hpp), to all to whom this node passes it on, or to none yet.
//
// Used by whoever is in the node.
#pragma once

#include <am/events.hpp>
#include <memory_resource>
#include <unordered_map>
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

  /// For node `self` of `nodes`. The senders outlive this.
  Forwarding(NodeId self, NodeId nodes, Sender& sender, MulticastSender& multicasts,
             std::pmr::memory_resource* memory)
      : self_(self),
        nodes_(nodes),
        sender_(sender),
        multicasts_(multicasts),
        begun_(memory),
        share_(memory),
        buffer_(memory) {}

  /// Sends the packet on to those for whom this node is to do so, and takes the list off the arrival's payload.
  [[nodiscard]] Outcome pass_on(const Transport::View& view, impl::Arrival& arrival);
  /// Nothing that came waits to be passed on.
  [[nodiscard]] bool idle() const noexcept { return begun_.empty(); }
  /// What came from `source` is dropped from now on.
  void forget(NodeId source) noexcept;

 private:
  [[nodiscard]] bool pass_on(std::size_t link, impl::OutMessage& message);
  [[nodiscard]] bool pass_on_down_the_tree(std::size_t link, impl::OutMessage& message);

  const NodeId self_;
  const NodeId nodes_;
  Sender& sender_;
  MulticastSender& multicasts_;
  std::pmr::unordered_map<std::size_t, std::size_t> begun_;  // deferred ones: how many members have them
  MulticastSender::List share_;                              // of the packet that is passed on
  std::pmr::vector<std::byte> buffer_;
};

}  // namespace am::core
