// A message of the M-Machine as it travels: a header (Figure 4-6), the handler, the address that it was sent to, and the body; each a
// flit, the last of which is marked. A flit's parity is computed where it is injected and looked at where it is extracted, not between.
//
//   header   unused  sender NID  unused  turns  argcount  ordered  priority  unused  y  x
//   bits         21          10       8      3         4        1         1       6  5  5
//
// Assumed, where the figure says no more: of the turns the lowest bit is the direction along x, the next that along y (1: down), the
// highest the priority of the network input unit; an NID is y over x, as in the GTLB's tables (4.2.2).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.1, 3.3.2, 4.1, 4.2.4, 4.3.2, 4.4.2.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "emulated_hw/mmachine/channel_assignment.hpp"
#include "emulated_hw/mmachine/gtlb.hpp"
#include "emulated_hw/mmachine/word.hpp"

namespace am::mmachine {

inline constexpr unsigned most_body = 10;  ///< words of what a program sends (3.2.1)
inline constexpr unsigned most_bounced_body =
    12;  ///< of a message that comes back: handler, address, body (3.3.2)
inline constexpr unsigned words_before_body = 3;  ///< header, handler, address

/// Which way a message turns, computed where it is injected (4.4.1).
struct Turns {
  bool x_down = false;
  bool y_down = false;
  Priority to = Priority::p0;

  friend constexpr bool operator==(const Turns&, const Turns&) = default;
};

struct Header {
  NodePlace destination{};
  NodePlace sender{};
  Turns turns{};
  std::uint8_t argcount = 0;  ///< words of the body
  bool ordered = false;
  Priority priority = Priority::p0;

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
    return nid_of(destination) | std::uint64_t{index(priority)} << 16 | std::uint64_t{ordered} << 17 |
           std::uint64_t{argcount & 15u} << 18 | std::uint64_t{turns.x_down} << 22 |
           std::uint64_t{turns.y_down} << 23 | std::uint64_t{index(turns.to)} << 24 | nid_of(sender) << 33;
  }
  [[nodiscard]] static constexpr Header of(std::uint64_t bits) noexcept {
    const auto flag = [bits](unsigned at) { return (bits >> at & 1) != 0; };
    const auto priority = [&](unsigned at) { return flag(at) ? Priority::p1 : Priority::p0; };
    return {.destination = place_of(bits),
            .sender = place_of(bits >> 33),
            .turns = {flag(22), flag(23), priority(24)},
            .argcount = static_cast<std::uint8_t>(bits >> 18 & 15),
            .ordered = flag(17),
            .priority = priority(16)};
  }
  [[nodiscard]] constexpr MessageKind kind() const noexcept { return kind_of(priority, ordered); }
  friend constexpr bool operator==(const Header&, const Header&) = default;
};

/// What a buffer of the router holds.
struct Flit {
  Word word{};
  bool tail = false;
  bool parity = false;
  std::uint32_t recorded = 0;  ///< what a trace calls its message; no wire

  [[nodiscard]] static constexpr Flit of(const Word& word, bool tail, std::uint32_t recorded = 0) noexcept {
    return {word, tail, parity_of(word, tail), recorded};
  }
  [[nodiscard]] constexpr bool is_whole() const noexcept { return parity == parity_of(word, tail); }

 private:
  static constexpr bool parity_of(const Word& word, bool tail) noexcept {
    return ((static_cast<unsigned>(std::popcount(word.bits)) + (word.is_pointer ? 1u : 0u) +
             (tail ? 1u : 0u)) &
            1u) != 0;
  }
};

using Body = std::array<Word, most_bounced_body>;

struct Message {
  Header header{};
  Word handler{};
  Word address{};
  Body body{};  ///< header.argcount of them

  [[nodiscard]] constexpr unsigned flits() const noexcept { return words_before_body + header.argcount; }
  /// The flit that is `at` behind the header.
  [[nodiscard]] constexpr Flit flit(unsigned at) const noexcept {
    const bool tail = at + 1 == flits();
    if (at == 0) return Flit::of({header.bits(), false}, tail);
    if (at == 1) return Flit::of(handler, tail);
    return Flit::of(at == 2 ? address : body[at - words_before_body], tail);
  }
};

}  // namespace am::mmachine
