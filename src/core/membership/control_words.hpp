// The words of the control lane (ControlLane::publish) that hosts tell each other: what each is about, and of which node or round.
#pragma once

#include <cstdint>

#include "host/layout.hpp"

namespace am::core {

enum class About : std::uint32_t {
  standing = 1,  ///< of a node: Departure (relay.cpp)
  barrier,       ///< of a round: the number of the barrier
  count          ///< a host agrees on Count (count_keeper.hpp)
};

inline constexpr std::uint32_t word_index_bits = 24;
static_assert(host::max_nodes <= 1u << word_index_bits);

constexpr std::uint32_t word_about(About about, std::uint32_t index) noexcept {
  return static_cast<std::uint32_t>(about) << word_index_bits | index;
}
constexpr About about_of(std::uint32_t word) noexcept { return static_cast<About>(word >> word_index_bits); }
constexpr std::uint32_t index_of(std::uint32_t word) noexcept { return word & ((1u << word_index_bits) - 1); }

}  // namespace am::core
