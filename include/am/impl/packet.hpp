// The layout of one packet: a 64-byte line that holds the header and up to six argument words. A payload that fits beside
// the words lies in the same line; a longer one in the lines that follow in memory, or, where the network has it lie
// elsewhere (flag::elsewhere), wherever that says. The same image lies in a shared-memory ring and in any transport's buffer.
//
// Not here: who may write it when (ring.hpp), and what the fields make a node do (src/core/events/dispatch.cpp).
#pragma once

#include <am/types.hpp>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace am::impl {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t max_words = 6;

/// The longest payload in a packet's own lines: four vectors of 32 64-bit words (the T1's vector is 32 words, report section
/// 3.3). For longer ones see Transport::claim.
inline constexpr std::size_t packet_payload_bytes = 1024;
inline constexpr std::size_t max_packet_lines = 1 + packet_payload_bytes / line_bytes;

/// A payload begins at least so aligned, as memory from malloc does.
inline constexpr std::size_t payload_alignment = 16;

using HandlerId = std::uint16_t;

namespace flag {
inline constexpr std::uint16_t multicast =
    1;  ///< sent to a group: `mcst` of the T1; payload ends in a member list
inline constexpr std::uint16_t more = 2;  ///< a piece of a long payload, not the last; words[0] = total bytes
inline constexpr std::uint16_t last = 4;  ///< the last piece of a long payload; carries handler and words
inline constexpr std::uint16_t pad = 8;   ///< fills the end of a ring; carries nothing
inline constexpr std::uint16_t payload = 16;    ///< has a payload, of Packet::payload_bytes
inline constexpr std::uint16_t elsewhere = 32;  ///< the network's: the payload is where Header::place says
inline constexpr std::uint16_t known =
    multicast | more | last | payload | elsewhere;  ///< what a packet may have that is given to a node
/// Never sent: what a receiver says of a packet that reaches beyond the place it may fill.
inline constexpr std::uint16_t misfit = 1u << 11;
}  // namespace flag

/// The 64 bits that publish a packet, as one value: lap | handler | place | words and flags. The place is the number of lines
/// behind the first one, or the network's own (flag::elsewhere).
struct Header {
  std::uint64_t bits = 0;

  static constexpr Header make(HandlerId handler, std::size_t words, std::size_t place,
                               std::uint16_t flags) noexcept {
    return {std::uint64_t{handler} << 16 | std::uint64_t{place} << 32 | std::uint64_t{words} << 48 |
            std::uint64_t{flags} << 52};
  }
  [[nodiscard]] constexpr Header with_lap(std::uint16_t lap) const noexcept { return {bits | lap}; }
  [[nodiscard]] constexpr std::uint16_t lap() const noexcept { return static_cast<std::uint16_t>(bits); }
  [[nodiscard]] constexpr HandlerId handler() const noexcept { return static_cast<HandlerId>(bits >> 16); }
  [[nodiscard]] constexpr std::size_t place() const noexcept { return (bits >> 32) & 0xffff; }
  [[nodiscard]] constexpr std::size_t lines() const noexcept {
    return has(flag::elsewhere) ? 1 : 1 + place();
  }
  [[nodiscard]] constexpr std::size_t words() const noexcept { return (bits >> 48) & 0xf; }
  /// One line, no payload, no flags, and no more words than there is room for: words for a handler and nothing else.
  [[nodiscard]] constexpr bool is_plain() const noexcept {
    // The place above words and flags, as one number.
    return std::rotl(static_cast<std::uint32_t>(bits >> 32), 16) <= max_words;
  }
  /// Words for a handler and a payload, wherever that lies, and nothing else.
  [[nodiscard]] constexpr bool is_words_and_payload() const noexcept {
    return (flags() & ~flag::elsewhere) == flag::payload && words() <= max_words;
  }
  /// Words for a handler and nothing else, whether by a multicast, which then goes no further from here, or not.
  [[nodiscard]] constexpr bool is_words() const noexcept {
    return Header{bits & ~(std::uint64_t{flag::multicast} << 52)}.is_plain();
  }
  [[nodiscard]] constexpr Header with_flag(std::uint16_t flag) const noexcept {
    return {bits | std::uint64_t{flag} << 52};
  }
  [[nodiscard]] constexpr std::uint16_t flags() const noexcept {
    return static_cast<std::uint16_t>(bits >> 52);
  }
  [[nodiscard]] constexpr bool has(std::uint16_t flag) const noexcept { return (flags() & flag) != 0; }
};

struct alignas(line_bytes) Packet {
  std::atomic<std::uint64_t> header;  ///< written last (release), read first (acquire)
  std::uint32_t payload_bytes;        ///< of this packet, if it has a payload
  NodeId origin;                      ///< who sent the message: its link's sender, but in a multicast
  std::uint64_t words[max_words];

  /// The payload in the packet's own lines, `lines` behind the first one: behind the words where there are none.
  [[nodiscard]] std::byte* payload(std::size_t word_count, std::size_t lines) noexcept {
    return reinterpret_cast<std::byte*>(this) + payload_offset(word_count, lines);
  }
  [[nodiscard]] const std::byte* payload(std::size_t word_count, std::size_t lines) const noexcept {
    return reinterpret_cast<const std::byte*>(this) + payload_offset(word_count, lines);
  }
  static constexpr std::size_t payload_offset(std::size_t word_count, std::size_t lines) noexcept;
  /// Valid to whoever holds the packet: its publisher before, its receiver after the hand-over.
  [[nodiscard]] Header head() const noexcept { return {header.load(std::memory_order_relaxed)}; }
};

static_assert(sizeof(Packet) == line_bytes);
static_assert(offsetof(Packet, header) == 0 && offsetof(Packet, payload_bytes) == 8);
static_assert(offsetof(Packet, origin) == 12 && offsetof(Packet, words) == 16);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A word that its writer may change meanwhile, if it is not what it should be: what is checked is what is used.
template <class T>
[[nodiscard]] inline T read_once(const T& shared) noexcept {
  return *static_cast<const volatile T*>(&shared);
}

constexpr std::size_t Packet::payload_offset(std::size_t word_count, std::size_t lines) noexcept {
  constexpr std::size_t per_step = payload_alignment / sizeof(std::uint64_t);
  return lines != 0 ? sizeof(Packet)
                    : offsetof(Packet, words) + (word_count + per_step - 1) / per_step * payload_alignment;
}

/// How many lines behind the first a payload needs beside so many words: none where it fits into that one.
constexpr std::size_t payload_lines(std::size_t words, std::size_t payload_bytes) noexcept {
  if (Packet::payload_offset(words, 0) + payload_bytes <= sizeof(Packet)) return 0;
  return (payload_bytes + line_bytes - 1) / line_bytes;
}

/// Whether so many bytes of payload lie within a packet's own lines.
constexpr bool payload_fits(Header head, std::size_t payload_bytes) noexcept {
  return Packet::payload_offset(head.words(), head.place()) + payload_bytes <= head.lines() * line_bytes;
}

}  // namespace am::impl
