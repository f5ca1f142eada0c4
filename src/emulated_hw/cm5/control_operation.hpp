// What the nodes of a partition of the CM-5 do together on its control network (von Eicken 1993, 3.2.3), and how it combines their words.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulated_hw/kit/ports.hpp"

namespace am::cm5 {

/// How two words become one. Maxima and minima of 64 bits, with a sign or without.
enum class Combiner : std::uint8_t {
  sum,
  maximum,
  minimum,
  maximum_unsigned,
  minimum_unsigned,
  bit_and,
  bit_or,
  bit_xor
};

[[nodiscard]] constexpr std::uint64_t combined(Combiner combiner, std::uint64_t one,
                                               std::uint64_t other) noexcept {
  const auto is_less = static_cast<std::int64_t>(one) < static_cast<std::int64_t>(other);
  switch (combiner) {
    case Combiner::maximum:
      return is_less ? other : one;
    case Combiner::minimum:
      return is_less ? one : other;
    case Combiner::maximum_unsigned:
      return std::max(one, other);
    case Combiner::minimum_unsigned:
      return std::min(one, other);
    case Combiner::bit_and:
      return one & other;
    case Combiner::bit_or:
      return one | other;
    case Combiner::bit_xor:
      return one ^ other;
    case Combiner::sum:
      break;
  }
  return one + other;
}

/// The same at all nodes.
struct ControlOperation {
  enum class Kind : std::uint8_t { barrier, broadcast, reduction, scan };
  static constexpr kit::NodeNumber all = 0xffff;  ///< as the root of a reduction

  Kind kind = Kind::barrier;
  Combiner combiner = Combiner::sum;
  bool descends = false;     ///< a scan, from the last node to the first
  kit::NodeNumber root = 0;  ///< of a broadcast, or a reduction
  std::uint32_t more = 0;    ///< that they are to agree upon, whatever it is

  /// Whether that node has to wait for the result.
  [[nodiscard]] constexpr bool is_awaited_by(kit::NodeNumber node) const noexcept {
    if (kind == Kind::broadcast) return node != root;
    return kind != Kind::reduction || root == all || root == node;
  }
  /// Never 0.
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
    return std::uint64_t{more} << 32 | std::uint64_t{root & all} << 16 | std::uint64_t{descends} << 12 |
           static_cast<std::uint64_t>(combiner) << 8 | (static_cast<std::uint64_t>(kind) + 1);
  }
  /// Of 0: of no kind, and awaited by all.
  [[nodiscard]] static constexpr ControlOperation of(std::uint64_t bits) noexcept {
    return {.kind = static_cast<Kind>((bits & 0xff) - 1),
            .combiner = static_cast<Combiner>(bits >> 8 & 0xf),
            .descends = (bits >> 12 & 1) != 0,
            .root = static_cast<kit::NodeNumber>(bits >> 16 & all),
            .more = static_cast<std::uint32_t>(bits >> 32)};
  }
};

}  // namespace am::cm5
