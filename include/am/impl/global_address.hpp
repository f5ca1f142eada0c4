// One word that names a byte of global memory: a node and an offset into its segment. The untyped inside of
// am::GlobalPtr; the same bits on every node.
#pragma once

#include <am/types.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace am::impl {

/// Upper 22 bits: the node plus one, so that the word 0 is null. Lower 42: the offset. A segment has at most 2^40 bytes
/// (static_assert in src/core/memory/global_memory.cpp), so the end of any segment, and `nowhere`, can be told from its bytes.
struct GlobalAddress {
  static constexpr unsigned offset_bits = 42;
  static constexpr std::uint64_t nowhere =
      (std::uint64_t{1} << offset_bits) - 1;  ///< an offset outside every segment
  static constexpr NodeId max_nodes = (NodeId{1} << (64 - offset_bits)) - 2;

  std::uint64_t bits = 0;

  static constexpr GlobalAddress make(NodeId node, std::uint64_t offset) noexcept {
    const std::uint64_t upper = std::uint64_t{node < max_nodes ? node : max_nodes} + 1;
    return {upper << offset_bits | (offset < nowhere ? offset : nowhere)};
  }
  [[nodiscard]] constexpr bool is_null() const noexcept { return bits >> offset_bits == 0; }
  /// Of a null address: greater than any node.
  [[nodiscard]] constexpr std::uint64_t node() const noexcept { return (bits >> offset_bits) - 1; }
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return bits & nowhere; }

  /// `count` steps of `step` bytes further on the same node. What leaves the room of offsets, even for a moment, becomes
  /// `nowhere`: it never comes back as somebody's valid address.
  [[nodiscard]] constexpr GlobalAddress moved(std::ptrdiff_t count, std::size_t step) const noexcept {
    constexpr auto room = static_cast<std::ptrdiff_t>(nowhere);
    const auto size = static_cast<std::ptrdiff_t>(step);
    std::ptrdiff_t at = room;
    if (offset() != nowhere && count <= room / size && count >= -(room / size)) {
      at = static_cast<std::ptrdiff_t>(offset()) + count * size;
      if (at < 0 || at > room) at = room;
    }
    return {(bits & ~nowhere) | static_cast<std::uint64_t>(at)};
  }

  friend constexpr auto operator<=>(GlobalAddress, GlobalAddress) noexcept = default;
};

}  // namespace am::impl
