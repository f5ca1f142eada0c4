// Several networks as one: each peer is reached by one of them. Which one is fixed when the job begins (networks.hpp).
//
// Who sent a packet tells by which network it came, so a view needs no more than its source to find its way back. A round begins
// behind the network that gave the last packet of its priority, so that a busy one does not keep the others waiting.
//
// Used by whoever is in the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transports/transport.hpp"

namespace am::core {

class Links final : public Transport {
 public:
  /// `of_peer` names, for each node of the job, its place in `networks`, which outlive this.
  Links(std::vector<Transport*> networks, std::vector<std::uint8_t> of_peer);

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override {
    return to_peer(to).claim(to, priority, words, payload_bytes);
  }
  void fill(const Slot& slot, Payload payload) noexcept override { to_peer(slot.to).fill(slot, payload); }
  void commit(const Slot& slot, impl::Header header) noexcept override {
    to_peer(slot.to).commit(slot, header);
  }
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override {
    return to_peer(to).has_room(to, priority, payload_bytes);
  }
  [[nodiscard]] View receive(Priority priority) noexcept override;
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    return to_peer(view.source).payload_of(view);
  }
  void release(const View& view) noexcept override { to_peer(view.source).release(view); }
  void defer(const View& view) noexcept override { to_peer(view.source).defer(view); }
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override;

  bool progress() noexcept override;
  void flush() noexcept override {
    for (Transport* network : networks_) network->flush();
  }
  [[nodiscard]] bool drained() const noexcept override;
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override;
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override;
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  [[nodiscard]] bool holds_back() const noexcept override;

  [[nodiscard]] bool published() const noexcept override;
  void close(NodeId peer) noexcept override { to_peer(peer).close(peer); }
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    return to_peer(to).queued(to, priority);
  }
  [[nodiscard]] std::string way_to(NodeId peer) const override { return to_peer(peer).way_to(peer); }

  [[nodiscard]] ControlLane* control_lane(NodeId peer) noexcept override {
    return to_peer(peer).control_lane(peer);
  }
  [[nodiscard]] MemoryReach* memory_reach(NodeId peer) noexcept override {
    return to_peer(peer).memory_reach(peer);
  }
  [[nodiscard]] PayloadRoom* payload_room(NodeId peer) noexcept override {
    return to_peer(peer).payload_room(peer);
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId peer) noexcept override {
    return to_peer(peer).unordered_lanes(peer);
  }
  [[nodiscard]] Pathways* pathways(NodeId peer) noexcept override { return to_peer(peer).pathways(peer); }
  /// Of the one network that leads to all of them. (That is so on each of their hosts: a network that has multicasts of its own
  /// is one within a host.)
  [[nodiscard]] Multicaster* multicaster(NodeId from, std::span<const NodeId> members) noexcept override;

 private:
  [[nodiscard]] Transport& to_peer(NodeId peer) const noexcept { return *networks_[of_peer_[peer]]; }

  const std::vector<Transport*> networks_;
  const std::vector<std::uint8_t> of_peer_;
  std::string name_;               // "shm+tcp"
  std::size_t first_[2] = {0, 0};  // by priority: where this round begins
  std::size_t gave_[2] = {0, 0};   // by priority: the network that gave the last packet
};

}  // namespace am::core
