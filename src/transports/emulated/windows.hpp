// Where an emulated network's messages lie, and its routers: the region of the host's memory that is its own (host/memory.hpp).
//
//   routers | news per node | Window per (receiver, sender) | chunks per node and priority, where messages are of any size
//
// Beside a window lies what else its machine has for a pair.
//
// A packet is written into its window, where its receiver reads it; what goes through the routers says only that it is on its way
// (emulated_hw/kit/live_network.hpp). A pair that never talks costs no memory.
#pragma once

#include <am/impl/link.hpp>
#include <am/impl/ring.hpp>
#include <am/types.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/memory.hpp"
#include "transports/chunks.hpp"
#include "transports/emulated/senders.hpp"

namespace am::emulated {

inline constexpr unsigned region = 1;  ///< of the host's memory

inline constexpr std::uint32_t low_lines = 68;  ///< as in shared memory (shm/rings.hpp)
inline constexpr std::uint32_t high_lines = 40;

inline constexpr std::uint32_t unordered_lines = 16;

/// A queue of a window: packets of a priority, and, where the network knows such, unordered ones.
enum class Lane : std::uint8_t { low, high, low_unordered, high_unordered };
inline constexpr std::size_t most_lanes = 4;
inline constexpr std::size_t ordered_lanes = 2;
constexpr std::size_t index(Lane lane) noexcept { return static_cast<std::size_t>(lane); }
constexpr Lane lane_of(Priority priority, bool unordered) noexcept {
  return static_cast<Lane>(static_cast<std::size_t>(priority) + (unordered ? ordered_lanes : 0));
}
constexpr Priority priority_of(Lane lane) noexcept {
  return static_cast<Priority>(index(lane) % ordered_lanes);
}
constexpr std::uint32_t lines_of(Lane lane) noexcept {
  return lane == Lane::low ? low_lines : lane == Lane::high ? high_lines : unordered_lines;
}

/// What a window counts besides packets, where accesses go through the network (accesses.hpp).
inline constexpr std::size_t counts_stores = 2;
inline constexpr std::size_t counts_answers = 3;

/// From one sender to one receiver. Two lines for each of the first, which processors fetch in pairs: whoever looks at one all the time
/// would take the other away from who writes it.
struct Window {
  static constexpr std::size_t most_counted = 6;
  /// What has come, by what the machine counts (its Counted), as kit::Entry: its network's. The first are those of the lanes.
  alignas(2 * host::line) std::array<std::atomic<std::uint64_t>, most_counted> arrived;
  /// Of packets the same, for the receiver to look at all the time. It may be behind: for a moment, or until the next when somebody was killed.
  alignas(2 * host::line) std::array<std::atomic<std::uint64_t>, most_lanes> shown;
  alignas(2 * host::line) impl::RingControl control[most_lanes];
  impl::Packet low[low_lines];
  impl::Packet high[high_lines];
  impl::Packet unordered[2][unordered_lines];  ///< by priority; no memory where the network has none

  [[nodiscard]] impl::Packet* ring(Lane lane) noexcept {
    if (lane == Lane::low) return low;
    return lane == Lane::high ? high : unordered[index(lane) - ordered_lanes];
  }
};

/// Of one receiver: whose windows it should look at, by lane. Set by whoever counts a packet, taken back by the receiver.
struct News {
  alignas(host::line) std::array<Senders, most_lanes> from;
  std::atomic<bool> fences;  ///< it is armed often: a fence, please, before the look at its alarm
};

class Windows final : public ChunkRegion {
 public:
  /// Maps the region, in which the routers, and what else the machine has there, take so many bytes, and what it has beside a window.
  /// Throws am::Error.
  Windows(std::shared_ptr<const host::Memory> memory, std::size_t routers, std::size_t lanes,
          std::size_t beside = 0)
      : memory_(std::move(memory)),
        nodes_(memory_->nodes()),
        lanes_(lanes),
        beside_(host::round_up(beside, 2 * host::line)),
        news_at_(host::round_up(routers, host::line)),
        windows_at_(host::round_up(news_at_ + nodes_ * sizeof(News), host::page_bytes)),
        chunks_at_(host::round_up(windows_at_ + bytes_of_windows(), host::page_bytes) + 2 * host::line),
        base_(memory_->map_region(region, chunks_at_ + std::size_t{nodes_} * 2 * chunk_bytes)) {}

  [[nodiscard]] NodeId nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t lanes() const noexcept { return lanes_; }
  [[nodiscard]] const host::Board& board() const noexcept { return memory_->board(); }
  [[nodiscard]] std::byte* routers() const noexcept { return base_; }
  [[nodiscard]] News& news(NodeId receiver) const noexcept {
    return *reinterpret_cast<News*>(base_ + news_at_ + receiver * sizeof(News));
  }
  [[nodiscard]] Window& window(NodeId receiver, NodeId sender) const noexcept {
    return *reinterpret_cast<Window*>(base_ + window_at(receiver, sender));
  }
  [[nodiscard]] std::byte* beside_window(NodeId receiver, NodeId sender) const noexcept {
    return base_ + window_at(receiver, sender) + sizeof(Window);
  }

  // As in shared memory (shm/rings.hpp), so not where a page begins.
  [[nodiscard]] NodeId receivers() const noexcept override { return nodes_; }
  [[nodiscard]] std::byte* chunks(NodeId sender, Priority priority) const noexcept override {
    return base_ + chunks_at(sender, priority);
  }
  [[nodiscard]] bool commit_chunks(NodeId sender, Priority priority, std::size_t offset,
                                   std::size_t bytes) const noexcept override {
    return memory_->commit_region(region, chunks_at(sender, priority) + offset, bytes);
  }
  [[nodiscard]] std::uint64_t released(NodeId to, NodeId sender, Priority priority) const noexcept override {
    return window(to, sender)
        .control[static_cast<std::size_t>(priority)]
        .released.load(std::memory_order_acquire);
  }

  // As those of host::Memory.
  [[nodiscard]] bool commit_routers() const noexcept {
    return memory_->commit_region(region, 0, windows_at_);
  }
  [[nodiscard]] bool commit_window(NodeId receiver, NodeId sender) const noexcept {
    return memory_->commit_region(region, window_at(receiver, sender), bytes_of_window());
  }

  [[nodiscard]] std::size_t bytes_of_window() const noexcept {
    return lanes_ == most_lanes ? sizeof(Window) + beside_ : offsetof(Window, unordered);
  }

 private:
  [[nodiscard]] std::size_t bytes_of_windows() const noexcept {
    return std::size_t{nodes_} * nodes_ * (sizeof(Window) + beside_);
  }
  [[nodiscard]] std::size_t window_at(NodeId receiver, NodeId sender) const noexcept {
    return windows_at_ + (std::size_t{receiver} * nodes_ + sender) * (sizeof(Window) + beside_);
  }

  [[nodiscard]] std::size_t chunks_at(NodeId sender, Priority priority) const noexcept {
    return chunks_at_ + impl::link_index(sender, priority) * chunk_bytes;
  }

  std::shared_ptr<const host::Memory> memory_;
  NodeId nodes_;
  std::size_t lanes_;
  std::size_t beside_;
  std::size_t news_at_;
  std::size_t windows_at_;
  std::size_t chunks_at_;
  std::byte* base_;
};

}  // namespace am::emulated
