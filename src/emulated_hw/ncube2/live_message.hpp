// What travels through the network of the nCUBE/2 live: a word for a message of any size, which lies where its sender wrote it. Here it
// names its source, too, which the machine's does not.
#pragma once

#include <cstdint>

#include "emulated_hw/ncube2/address.hpp"

namespace am::ncube2 {

/// What becomes of a message at its end. Accesses are the kernel's: its DMA engines write what comes, and send what is asked for.
enum class For : std::uint8_t {
  low,
  high,
  store,   ///< its words go to memory
  fetch,   ///< what lies in memory goes back, as an `answer`
  answer,  ///< of the node that has fetched
};

/// What is counted at a node of each other one: its messages; stores of the other's, and answers to what was fetched from the other.
enum class Counted : std::uint8_t { low, high, stored, answered };
inline constexpr unsigned kinds_of_counted = 4;

inline constexpr unsigned most_live_dimensions = 10;

struct LiveMessage {
  NodeNumber destination = 0;
  NodeNumber source = 0;
  For who = For::low;
  std::uint32_t mask = 0;  ///< of a broadcast, low or high: these bits of `destination` do not matter

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    const std::uint32_t ends = destination | source << most_live_dimensions;
    if (who <= For::high) return ends | mask << mask_at | static_cast<std::uint32_t>(who) << priority_at;
    return ends | static_cast<std::uint32_t>(who) << mask_at | access;
  }
  static constexpr LiveMessage of(std::uint32_t bits) noexcept {
    LiveMessage message{.destination = bits & all, .source = bits >> most_live_dimensions & all};
    if ((bits & access) != 0) {
      message.who = static_cast<For>(bits >> mask_at & 7);
    } else {
      message.who = static_cast<For>(bits >> priority_at & 1);
      message.mask = bits >> mask_at & all;
    }
    return message;
  }

  [[nodiscard]] constexpr Address address() const noexcept { return {.node = destination, .mask = mask}; }
  /// What its destination sends back.
  [[nodiscard]] constexpr LiveMessage answered() const noexcept {
    return {.destination = source, .source = destination, .who = For::answer};
  }
  [[nodiscard]] constexpr Counted counted() const noexcept {
    return who == For::answer ? Counted::answered : static_cast<Counted>(who);
  }

 private:
  static constexpr unsigned mask_at = 2 * most_live_dimensions;
  static constexpr unsigned priority_at = 3 * most_live_dimensions;
  static constexpr std::uint32_t access = std::uint32_t{1} << 31;
  static constexpr std::uint32_t all = (std::uint32_t{1} << most_live_dimensions) - 1;
};

}  // namespace am::ncube2
