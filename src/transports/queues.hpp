// What an onlooker sees of the packets between the nodes of a job: reports, watchdogs, amrun. Not for nodes, who receive them.
//
// Read while others write: relaxed, racy by nature, never trusted. Takes no memory after it is made, and no lock. Any thread.
#pragma once

#include <am/impl/packet.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/memory.hpp"

namespace am {

class Queues {
 public:
  /// What lies in one queue.
  struct Content {
    std::size_t capacity = 0;   ///< lines
    std::size_t lines = 0;      ///< not handed back yet
    std::size_t packets = 0;    ///< that are whole
    impl::HandlerId first = 0;  ///< of the oldest of them
  };

  Queues() = default;
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;
  virtual ~Queues() = default;

  /// Whether `from` has sent to `to`. Only then may the rest be asked.
  [[nodiscard]] virtual bool connected(NodeId from, NodeId to) const noexcept = 0;
  [[nodiscard]] virtual Content content(NodeId from, NodeId to, Priority priority) const noexcept = 0;
  /// Grows when `to` hands something back.
  [[nodiscard]] virtual std::uint64_t taken(NodeId from, NodeId to, Priority priority) const noexcept = 0;
  /// The packet that the node of this card sees at `address`; null where none is to be seen from here. It may be overwritten at
  /// any time.
  [[nodiscard]] virtual const impl::Packet* packet(const host::NodeCard& card,
                                                   std::uint64_t address) const noexcept = 0;
};

/// Those of a job on this host, which may be mapped for reading only. Throws am::Error.
std::unique_ptr<Queues> queues_of(std::shared_ptr<const host::Memory> memory);

}  // namespace am
