// Where the emulated network's messages lie, and its routers: the region of the host's memory that is its own (host/memory.hpp).
//
//   routers | news per node | Window per (receiver, sender)
//
// A packet is written into its window, where its receiver reads it; what goes through the routers says only that it is on its way
// (emulated_hw/t1/live_mesh.hpp). A pair that never talks costs no memory.
#pragma once

#include <am/impl/ring.hpp>
#include <am/types.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulated_hw/t1/live_mesh.hpp"
#include "host/memory.hpp"

namespace am::emulated {

inline constexpr unsigned region = 1;  ///< of the host's memory

inline constexpr std::uint32_t low_lines = 68;  ///< as in shared memory (shm/rings.hpp)
inline constexpr std::uint32_t high_lines = 40;

/// From one sender to one receiver. Two lines for each of the first, which processors fetch in pairs: whoever looks at one all the time
/// would take the other away from who writes it.
struct Window {
  /// What has come, by t1::Counted, as kit::Entry: LiveMesh's. Packets by priority, stores, and answers to the receiver.
  alignas(2 * host::line) std::array<std::atomic<std::uint64_t>, t1::kinds_of_counted> arrived;
  /// Of packets the same, for the receiver to look at all the time. It may be behind: for a moment, or until the next when somebody was killed.
  alignas(2 * host::line) std::array<std::atomic<std::uint64_t>, 2> shown;
  alignas(2 * host::line) impl::RingControl control[2];
  impl::Packet low[low_lines];
  impl::Packet high[high_lines];
};

/// Of one receiver: whose windows it should look at, by priority. Set by whoever counts a packet, taken back by the receiver.
struct News {
  alignas(host::line) std::array<std::array<std::atomic<std::uint64_t>, t1::most_nodes / 64>, 2> from;
  std::atomic<bool> fences;  ///< it is armed often: a fence, please, before the look at its alarm
};

class Windows {
 public:
  /// Maps the region. Throws am::Error.
  explicit Windows(std::shared_ptr<const host::Memory> memory)
      : memory_(std::move(memory)), base_(memory_->map_region(region, windows_at() + bytes_of_windows())) {}

  [[nodiscard]] NodeId nodes() const noexcept { return memory_->nodes(); }
  [[nodiscard]] const host::Board& board() const noexcept { return memory_->board(); }
  [[nodiscard]] std::byte* routers() const noexcept { return base_; }
  [[nodiscard]] News& news(NodeId receiver) const noexcept {
    return *reinterpret_cast<News*>(base_ + news_at() + receiver * sizeof(News));
  }
  [[nodiscard]] Window& window(NodeId receiver, NodeId sender) const noexcept {
    return *reinterpret_cast<Window*>(base_ + window_at(receiver, sender));
  }

  // As those of host::Memory.
  [[nodiscard]] bool commit_routers() const noexcept {
    return memory_->commit_region(region, 0, windows_at());
  }
  [[nodiscard]] bool commit_window(NodeId receiver, NodeId sender) const noexcept {
    return memory_->commit_region(region, window_at(receiver, sender), sizeof(Window));
  }

 private:
  [[nodiscard]] std::size_t news_at() const noexcept { return t1::LiveMesh::bytes(nodes()); }
  [[nodiscard]] std::size_t windows_at() const noexcept {
    return host::round_up(news_at() + nodes() * sizeof(News), host::page_bytes);
  }
  [[nodiscard]] std::size_t bytes_of_windows() const noexcept {
    return std::size_t{nodes()} * nodes() * sizeof(Window);
  }
  [[nodiscard]] std::size_t window_at(NodeId receiver, NodeId sender) const noexcept {
    return windows_at() + (std::size_t{receiver} * nodes() + sender) * sizeof(Window);
  }

  std::shared_ptr<const host::Memory> memory_;
  std::byte* base_;
};

}  // namespace am::emulated
