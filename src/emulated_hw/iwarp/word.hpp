// What iWarp cells send each other: words of 32 bits, some of them markers (Borkar et al. 1990, 6.1.2, 6.1.3, 7.3).
//
// "Each data word that is transmitted between cells can carry with it a tag. If a tag is present, we call the data word plus tag a marker."
// A begin marker's data is a street sign: the cell where something happens to its pathway or message, and what: it turns, or it has arrived.
// Its pool says where the channels of the way to that cell come from.
//
// Assumed: the encoding of signs; that they name their source, by which a cell detects pathways of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/grid.hpp"

namespace am::iwarp {

using kit::Cycle;
using CellNumber = kit::NodeNumber;
using Data = std::uint32_t;

inline constexpr CellNumber most_cells = 4096;  ///< assumed; the paper's largest array has 1,024

enum class Tag : std::uint8_t { data, pathway_begin, pathway_end, message_begin, message_end, application };

struct Word {
  Data data = 0;
  Tag tag = Tag::data;
  friend constexpr bool operator==(const Word&, const Word&) = default;
};

/// A bus is named by the side of the cell at which it is, in both directions (4, Figure 5).
enum class Direction : std::uint8_t { x_right, y_up, x_left, y_down };
inline constexpr unsigned directions = 4;

[[nodiscard]] constexpr unsigned port(Direction direction) noexcept {
  return static_cast<unsigned>(direction);
}
/// The default course: what comes in at one side goes out at the other.
[[nodiscard]] constexpr Direction opposite(Direction side) noexcept {
  return static_cast<Direction>((port(side) + 2) % directions);
}

/// Logical channels are divided into two pools, and the open one into two classes (routes.hpp).
enum class Pool : std::uint8_t { reservation, open, open_over_edge };
inline constexpr unsigned pools = 3;

struct Sign {
  CellNumber cell = 0;
  std::optional<Direction> turn{};  ///< there; or none: that is the destination
  Pool pool = Pool::reservation;    ///< of the channels on the way to it
  CellNumber origin = 0;

  static constexpr Data cell_bits = most_cells - 1;
  static constexpr unsigned origin_at = 12;
  static constexpr unsigned turn_at = 24;
  static constexpr unsigned pool_at = 27;

  [[nodiscard]] constexpr Data data() const noexcept {
    return cell | origin << origin_at | (turn ? port(*turn) + 1 : 0) << turn_at |
           static_cast<Data>(pool) << pool_at;
  }
  [[nodiscard]] static constexpr Sign of(Data data) noexcept {
    Sign sign{.cell = data & cell_bits,
              .pool = static_cast<Pool>(data >> pool_at & 3),
              .origin = data >> origin_at & cell_bits};
    if (const Data turn = data >> turn_at & 7; turn != 0) sign.turn = static_cast<Direction>(turn - 1);
    return sign;
  }
  friend constexpr bool operator==(const Sign&, const Sign&) = default;
};

}  // namespace am::iwarp
