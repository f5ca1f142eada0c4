// What travels through the M-Machine's network live: a word for a message, whose contents lie where its sender wrote them.
//
// A message of P0 that a node has no room for is sent back (3.3.2), as an unordered one of P1, and turns there, in the node's interface.
// Whether it is taken or sent back is decided once, and is a part of the word from then on: so all who bring it on do the same.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 3.3.2, 3.3.3.
#pragma once

#include <cstdint>

#include "emulated_hw/kit/ports.hpp"
#include "emulated_hw/mmachine/message.hpp"

namespace am::mmachine {

using kit::NodeNumber;

/// At the end of its way.
enum class Fate : std::uint8_t { open, taken, sent_back };

struct LiveMessage {
  NodeNumber destination = 0;
  NodeNumber source = 0;
  unsigned flits = words_before_body;
  MessageKind kind = MessageKind::p0_ordered;
  bool counts = true;    ///< at its end; else only what is sent behind it does
  bool is_back = false;  ///< it was sent back, by `source`
  bool was_ordered =
      false;               ///< of one that was sent back: when it was sent. Its kind is that of its way back
  Fate fate = Fate::open;  ///< of a message of P0 that counts

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return destination | source << 10 | flits << 20 | static_cast<std::uint32_t>(kind) << 24 |
           std::uint32_t{counts} << 26 | std::uint32_t{is_back} << 27 | std::uint32_t{was_ordered} << 28 |
           static_cast<std::uint32_t>(fate) << 29;
  }
  static constexpr LiveMessage of(std::uint32_t bits) noexcept {
    const auto flag = [bits](unsigned at) { return (bits >> at & 1) != 0; };
    return {.destination = bits & 1023,
            .source = bits >> 10 & 1023,
            .flits = bits >> 20 & 15,
            .kind = static_cast<MessageKind>(bits >> 24 & 3),
            .counts = flag(26),
            .is_back = flag(27),
            .was_ordered = flag(28),
            .fate = static_cast<Fate>(bits >> 29 & 3)};
  }

  [[nodiscard]] constexpr Priority priority() const noexcept { return priority_of(kind); }
  [[nodiscard]] constexpr bool is_ordered() const noexcept { return mmachine::is_ordered(kind); }
  /// What its destination sends back: with the handler and the address before its body (3.3.2), so with as many words, and two more.
  [[nodiscard]] constexpr LiveMessage sent_back() const noexcept {
    return {.destination = source,
            .source = destination,
            .flits = flits + words_before_body - 1,
            .kind = MessageKind::p1_unordered,
            .is_back = true,
            .was_ordered = is_ordered()};
  }
};
static_assert(words_before_body + most_bounced_body <= 15);

}  // namespace am::mmachine
