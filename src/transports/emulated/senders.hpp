// Nodes as the bits of words in shared memory: several set them, one takes them.
#pragma once

#include <am/types.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/live_network.hpp"

namespace am::emulated {

struct Senders {
  std::array<std::atomic<std::uint64_t>, kit::most_live_nodes / 64> word;

  void set(NodeId node) noexcept {
    std::atomic<std::uint64_t>& its = word[node / 64];
    const std::uint64_t bit = std::uint64_t{1} << node % 64;
    if ((its.load(std::memory_order_seq_cst) & bit) == 0) its.fetch_or(bit, std::memory_order_seq_cst);
  }
  /// Whether there is one, of so many nodes.
  [[nodiscard]] bool any(NodeId nodes) const noexcept {
    for (std::size_t i = 0; i * 64 < nodes; ++i) {
      if (word[i].load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }
  /// Calls f(node) for each, and takes them out.
  template <class F>
  void take_all(NodeId nodes, F f) noexcept {
    for (std::size_t i = 0; i * 64 < nodes; ++i) {
      if (word[i].load(std::memory_order_relaxed) == 0) continue;
      kit::for_each(word[i].exchange(0, std::memory_order_seq_cst), [&](unsigned bit) {
        const auto node = static_cast<NodeId>(i * 64 + bit);
        if (node < nodes) f(node);  // not what another has scribbled
      });
    }
  }
};

}  // namespace am::emulated
