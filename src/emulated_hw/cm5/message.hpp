// A message of the CM-5 (von Eicken 1993, 3.2.3): a destination, up to five data words, and a tag of 4 bits. It does not say who sent it.
#pragma once

#include <array>
#include <cstdint>

#include "emulated_hw/kit/grid.hpp"

namespace am::cm5 {

using kit::NodeNumber;
using Word = std::uint32_t;

inline constexpr unsigned most_words = 5;
inline constexpr unsigned tags = 16;

/// "Two independent identical fat trees, informally called the 'left' and 'right' networks."
enum class Side : std::uint8_t { left, right };
inline constexpr std::array sides{Side::left, Side::right};
/// One for each of the two networks.
template <class T>
struct BySide {
  std::array<T, 2> both{};
  [[nodiscard]] constexpr T& operator[](Side side) noexcept { return both[static_cast<std::size_t>(side)]; }
  [[nodiscard]] constexpr const T& operator[](Side side) const noexcept {
    return both[static_cast<std::size_t>(side)];
  }
};

struct Message {
  NodeNumber to = 0;  ///< physical
  std::uint8_t tag = 0;
  std::uint8_t length = 0;  ///< of `words`
  std::array<Word, most_words> words{};
  friend bool operator==(const Message&, const Message&) = default;
};

/// Nodes that belong together, and have no others between them.
struct Partition {
  NodeNumber first = 0;
  NodeNumber nodes = 0;
  [[nodiscard]] constexpr bool contains(NodeNumber node) const noexcept { return node - first < nodes; }
};

}  // namespace am::cm5
