// Where the rings of shared memory lie: the region of the host's memory that is this network's (host/memory.hpp).
//
//   doorbells per node | PairBlock per (receiver, sender) | two lines | chunks per node and priority
//
// Every place follows from the number of nodes; a pair that never talks costs no memory, nor does a node that never sends a
// long payload.
#pragma once

#include <am/impl/link.hpp>
#include <am/impl/ring.hpp>
#include <am/types.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/memory.hpp"
#include "transports/chunks.hpp"

namespace am::shm {

inline constexpr unsigned region = 0;  ///< of the host's memory

inline constexpr std::uint32_t low_lines = 68;  ///< four of the longest packets
inline constexpr std::uint32_t high_lines = 40;

/// Both rings from one sender to one receiver: 7.1 KiB, so that both directions of a pair, and what is counted about it,
/// stay below 16. Rings of twice that length take 6 % more short messages a second, and nothing else gains by them.
struct PairBlock {
  impl::RingControl control[2];  ///< by priority
  impl::Packet low[low_lines];
  impl::Packet high[high_lines];
};
static_assert(sizeof(PairBlock) == 7296);

/// Written by senders, read by the owner in every poll: which of its rings have news.
struct Doorbells {
  alignas(
      host::line) std::atomic<std::uint64_t> summary[2];  ///< by priority: a bit for each word that has a bit
  alignas(host::line) std::atomic<std::uint64_t> words[2][host::max_nodes / 64];
  alignas(host::line) std::atomic<std::uint64_t> senders[host::max_nodes / 64];  ///< who has a ring to it
};

class Rings final : public ChunkRegion {
 public:
  /// Maps the region. Throws am::Error.
  explicit Rings(std::shared_ptr<const host::Memory> memory)
      : memory_(std::move(memory)), base_(memory_->map_region(region, bytes(nodes()))) {}

  /// Of the region, on paper.
  [[nodiscard]] static constexpr std::size_t bytes(NodeId nodes) noexcept {
    return chunks_begin(nodes) + std::size_t{nodes} * 2 * chunk_bytes;
  }

  [[nodiscard]] NodeId nodes() const noexcept { return memory_->nodes(); }
  [[nodiscard]] const host::Board& board() const noexcept { return memory_->board(); }
  [[nodiscard]] Doorbells& doorbells(NodeId node) const noexcept {
    return *reinterpret_cast<Doorbells*>(base_ + node * sizeof(Doorbells));
  }
  /// Whether the sender has rings to the receiver, who must have joined: only then is there memory behind them.
  [[nodiscard]] bool connected(NodeId receiver, NodeId sender) const noexcept {
    return (doorbells(receiver).senders[sender / 64].load(std::memory_order_relaxed) >> (sender % 64) & 1) !=
           0;
  }
  void set_connected(NodeId receiver, NodeId sender) const noexcept {
    doorbells(receiver).senders[sender / 64].fetch_or(std::uint64_t{1} << (sender % 64),
                                                      std::memory_order_relaxed);
  }
  [[nodiscard]] PairBlock& pair(NodeId receiver, NodeId sender) const noexcept {
    return *reinterpret_cast<PairBlock*>(base_ + pair_at(receiver, sender));
  }
  [[nodiscard]] NodeId receivers() const noexcept override { return nodes(); }
  [[nodiscard]] std::byte* chunks(NodeId sender, Priority priority) const noexcept override {
    return base_ + chunks_at(sender, priority);
  }

  [[nodiscard]] std::uint64_t released(NodeId to, NodeId sender, Priority priority) const noexcept override {
    return pair(to, sender)
        .control[static_cast<std::size_t>(priority)]
        .released.load(std::memory_order_acquire);
  }

  // As those of host::Memory.
  [[nodiscard]] bool commit_node(NodeId node) const noexcept {
    return memory_->commit_region(region, node * sizeof(Doorbells), sizeof(Doorbells));
  }
  [[nodiscard]] bool commit_pair(NodeId receiver, NodeId sender) const noexcept {
    return memory_->commit_region(region, pair_at(receiver, sender), sizeof(PairBlock)) &&
           memory_->commit_link(sender, receiver);
  }
  [[nodiscard]] bool commit_chunks(NodeId sender, Priority priority, std::size_t offset,
                                   std::size_t bytes) const noexcept override {
    return memory_->commit_region(region, chunks_at(sender, priority) + offset, bytes);
  }

  /// The packet that a process which has mapped the region at `mapped_at` sees at `address`; null where none lies.
  [[nodiscard]] const impl::Packet* packet(std::uint64_t address, std::uint64_t mapped_at) const noexcept {
    const std::uint64_t at = address - mapped_at;
    if (at < pairs_begin(nodes()) || at >= pairs_end(nodes()) || at % impl::line_bytes != 0) return nullptr;
    return reinterpret_cast<const impl::Packet*>(base_ + at);
  }
  [[nodiscard]] std::uint64_t mapped_at() const noexcept { return reinterpret_cast<std::uintptr_t>(base_); }

 private:
  static constexpr std::size_t pairs_begin(NodeId nodes) noexcept {
    return host::round_up(nodes * sizeof(Doorbells), host::page_bytes);
  }
  static constexpr std::size_t pairs_end(NodeId nodes) noexcept {
    return pairs_begin(nodes) + std::size_t{nodes} * nodes * sizeof(PairBlock);
  }
  /// Not where a page begins: from there to memory of malloc's a handler's own memcpy may take twenty times as long
  /// (am/impl/copy.hpp), and the other way two lines are far enough.
  static constexpr std::size_t chunks_begin(NodeId nodes) noexcept {
    return host::round_up(pairs_end(nodes), host::page_bytes) + 2 * impl::line_bytes;
  }
  [[nodiscard]] std::size_t chunks_at(NodeId sender, Priority priority) const noexcept {
    return chunks_begin(nodes()) + impl::link_index(sender, priority) * chunk_bytes;
  }
  [[nodiscard]] std::size_t pair_at(NodeId receiver, NodeId sender) const noexcept {
    return pairs_begin(nodes()) + (std::size_t{receiver} * nodes() + sender) * sizeof(PairBlock);
  }

  std::shared_ptr<const host::Memory> memory_;
  std::byte* base_;
};
static_assert(Rings::bytes(host::max_nodes) <= host::stride);

}  // namespace am::shm
