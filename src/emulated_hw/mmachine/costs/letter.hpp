// A message as a program states it, before an interface lowers it to operations, and as it comes out of the network.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/mmachine/costs/instruction.hpp"

namespace am::mmachine::costs {

/// Where a word of a message comes from.
enum class Source : std::uint8_t {
  computed,     ///< one operation of an integer unit
  regenerated,  ///< operations_per_seed of them, one after the other
  loaded,       ///< from memory, whose address is then moved on
  kept,         ///< as it was in the message before: an interface that still has that one need do nothing
};

struct Letter {
  Register destination{};       ///< its virtual address
  std::vector<Source> words{};  ///< of its body, in their order

  [[nodiscard]] bool has(Source source) const noexcept {
    return std::ranges::find(words, source) != words.end();
  }
  /// How many of a program's registers hold it: what comes from memory need not be there yet.
  [[nodiscard]] unsigned live_registers() const noexcept {
    return static_cast<unsigned>(words.size()) -
           static_cast<unsigned>(std::ranges::count(words, Source::loaded));
  }
};

/// When a message reaches the interface that it is for: its head (the HandlerIP), and each word of its body.
struct Arrival {
  Cycle head = 0;
  std::vector<Cycle> words{};

  [[nodiscard]] Cycle tail() const noexcept { return words.empty() ? head : words.back(); }

  /// As it comes from a buffer that holds all of it: a word a cycle behind the head.
  [[nodiscard]] static Arrival in_one_piece(Cycle head, std::size_t words) {
    Arrival arrival{.head = head};
    for (std::size_t word = 1; word <= words; ++word) arrival.words.push_back(head + word);
    return arrival;
  }
  /// The next word, which left so and comes a cycle behind the one before at the earliest.
  void append(Cycle cycle) { words.push_back(std::max(cycle, tail() + 1)); }
};

}  // namespace am::mmachine::costs
