// What travels through CARE's network live: a word for a message with its targets. What it carries lies where its sender wrote it, and so does a
// list of several targets: the word says which of the source's lists it is, and which of the entries this copy serves.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/ports.hpp"

namespace am::care {

/// What is counted at a node of each other one.
enum class Counted : std::uint8_t { low, high, low_unordered, high_unordered };
inline constexpr unsigned kinds_of_counted = 4;
constexpr bool is_ordered(Counted lane) noexcept { return lane <= Counted::high; }

inline constexpr unsigned most_targets = 15;
inline constexpr unsigned lists_of_lane = 4;  ///< of each node, of each ordered lane
inline constexpr unsigned lists_of_node = 2 * lists_of_lane;
inline constexpr unsigned editions = 8;

struct LiveMessage {
  kit::NodeNumber source = 0;
  Counted lane = Counted::low;
  kit::NodeNumber destination = 0;  ///< of a list of one
  std::uint32_t targets = 0;        ///< of a list of several, which goes in order: entries, as bits
  unsigned list = 0;                ///< its number among those of the lane
  unsigned edition = 0;             ///< of what is written there

  [[nodiscard]] constexpr bool is_list() const noexcept { return targets != 0; }
  [[nodiscard]] constexpr Counted counted() const noexcept { return lane; }
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    const auto its_lane = static_cast<std::uint32_t>(lane);
    if (!is_list()) return source | its_lane << 10 | destination << 12;
    return source | its_lane << 10 | list << 11 | edition << 13 | targets << 16 | 1U << 31;
  }
  static constexpr LiveMessage of(std::uint32_t bits) noexcept {
    LiveMessage message{.source = bits & 1023};
    if ((bits >> 31) == 0) {
      message.lane = static_cast<Counted>(bits >> 10 & 3);
      message.destination = bits >> 12 & 1023;
    } else {
      message.lane = static_cast<Counted>(bits >> 10 & 1);
      message.list = bits >> 11 & 3;
      message.edition = bits >> 13 & 7;
      message.targets = bits >> 16 & 0x7fff;
    }
    return message;
  }
  /// For one of the targets alone.
  [[nodiscard]] constexpr LiveMessage to(kit::NodeNumber target) const noexcept {
    return {.source = source, .lane = lane, .destination = target};
  }
};

/// In shared memory. Its node writes it anew, as the next edition, when all targets have what was sent with it. A packet of an older edition may
/// lie in a router even then, by a carrier that was stopped after it had entered the last of its ends, and before it left.
struct alignas(32) TargetList {
  std::atomic<std::uint16_t> edition;
  std::array<std::atomic<std::uint16_t>, most_targets> site;

  /// Calls f(entry, site) for those of a message. False: it is another edition, so that all have the message, and what f was told is void.
  template <class F>
  bool for_each_of(const LiveMessage& message, F f) const {
    if (edition.load(std::memory_order_acquire) != message.edition) return false;
    for (std::uint32_t rest = message.targets; rest != 0; rest &= rest - 1) {
      const auto entry = static_cast<unsigned>(std::countr_zero(rest));
      // Acquire pairs with write(): who sees a site of the next edition sees that edition below.
      f(entry, kit::NodeNumber{site[entry].load(std::memory_order_acquire)});
    }
    return edition.load(std::memory_order_relaxed) == message.edition;
  }
  template <class Sites>
  void write(unsigned its_edition, const Sites& sites) noexcept {
    edition.store(static_cast<std::uint16_t>(its_edition), std::memory_order_relaxed);
    for (std::size_t i = 0; i < sites.size(); ++i)
      site[i].store(static_cast<std::uint16_t>(sites[i]), std::memory_order_release);
  }
};

}  // namespace am::care
