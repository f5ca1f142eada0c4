// The rings of shared memory as an onlooker sees them (transports/queues.hpp).
#pragma once

#include <memory>

#include "transports/queues.hpp"
#include "transports/shm/rings.hpp"

namespace am::shm {

class RingQueues final : public Queues {
 public:
  explicit RingQueues(std::shared_ptr<const host::Memory> memory) : rings_(std::move(memory)) {}

  [[nodiscard]] bool connected(NodeId from, NodeId to) const noexcept override {
    const host::Board& board = rings_.board();
    return board.is_here(to) && board.standing(to) != host::Standing::absent && rings_.connected(to, from);
  }
  [[nodiscard]] Content content(NodeId from, NodeId to, Priority priority) const noexcept override;
  [[nodiscard]] std::uint64_t taken(NodeId from, NodeId to, Priority priority) const noexcept override;
  [[nodiscard]] const impl::Packet* packet(const host::NodeCard& card,
                                           std::uint64_t address) const noexcept override {
    return rings_.packet(address, card.mapped_at);
  }

 private:
  const Rings rings_;
};

}  // namespace am::shm
