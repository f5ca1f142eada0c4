// AM-II's messages: what stands in the words and the payload of libam's, and how one waits for its endpoint to be polled.
//
// A short one of up to four arguments whose endpoints, entry and mapping have small numbers is a line (lines.hpp):
//   words     tag, Line, the arguments
// One with data, whose fields and arguments are no more than three, has them as words, and a payload that is its data:
//   words     endpoints (to | from << 32), tag, what it is (Head), the fields (see below), the arguments
// All others:
//   words     endpoints, tag, Head
//   payload   fields (bulk: the offset in the segment; get: source offset, destination offset, bytes), the arguments, 64 bits each, and
//             from the next multiple of 16 on the data
#pragma once

#include <am/am2.h>
#include <am/payload.hpp>
#include <am/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace am::models::am2 {

inline constexpr int max_words = 16;
inline constexpr int max_medium = 64 << 10;
inline constexpr int max_long = 512 << 10;
/// Endpoints have numbers from here on, but for known ones, whose number is the port.
inline constexpr std::uint32_t first_endpoint = 1 << 16;

enum class Kind : std::uint8_t { small, medium, bulk, get };

/// A request's carries the translation entry that it went through (index, serial), and its answer brings that back: the credit.
struct Head {
  Kind kind = Kind::small;
  std::uint8_t count = 0;
  std::uint8_t handler = 0;
  std::uint32_t index = 0;   // 24 bits
  std::uint32_t serial = 0;  // 24 bits

  [[nodiscard]] std::uint64_t word() const noexcept {
    return static_cast<std::uint64_t>(handler) | static_cast<std::uint64_t>(count) << 8 |
           static_cast<std::uint64_t>(kind) << 13 | static_cast<std::uint64_t>(index) << 16 |
           static_cast<std::uint64_t>(serial) << 40;
  }
  static Head from(std::uint64_t word) noexcept {
    return {.kind = static_cast<Kind>(word >> 13 & 3),
            .count = static_cast<std::uint8_t>(word >> 8 & 31),
            .handler = static_cast<std::uint8_t>(word),
            .index = static_cast<std::uint32_t>(word >> 16 & 0xffffff),
            .serial = static_cast<std::uint32_t>(word >> 40)};
  }
};

/// Endpoints and head in one word, where they are small: to 16 | from 16 | handler 8 | index 12 | serial 12. Without a handler it
/// names the way, 0 where none is that small.
struct Line {
  std::uint64_t word = 0;

  [[nodiscard]] static Line way(std::uint32_t to, std::uint32_t from, std::uint32_t index,
                                std::uint32_t serial) noexcept {
    if ((index | serial) >> 12 != 0 || to >> 16 != 1 || from >> 16 != 1) return {};
    return {std::uint64_t{to - first_endpoint} | std::uint64_t{from - first_endpoint} << 16 |
            std::uint64_t{index} << 40 | std::uint64_t{serial} << 52};
  }
  [[nodiscard]] bool exists() const noexcept { return word != 0; }
  [[nodiscard]] Line to_handler(std::uint8_t number) const noexcept {
    return {word | std::uint64_t{number} << 32};
  }
  /// The way of its reply.
  [[nodiscard]] Line back() const noexcept {
    return {(word & ~0xff'ffff'ffffULL) | (word & 0xffff) << 16 | (word >> 16 & 0xffff)};
  }
  [[nodiscard]] std::uint32_t to() const noexcept {
    return static_cast<std::uint16_t>(word) + first_endpoint;
  }
  [[nodiscard]] std::uint32_t from() const noexcept {
    return static_cast<std::uint16_t>(word >> 16) + first_endpoint;
  }
  [[nodiscard]] std::uint8_t handler() const noexcept { return static_cast<std::uint8_t>(word >> 32); }
  [[nodiscard]] std::uint32_t index() const noexcept {
    return static_cast<std::uint32_t>(word >> 40 & 0xfff);
  }
  [[nodiscard]] std::uint32_t serial() const noexcept { return static_cast<std::uint32_t>(word >> 52); }
};

constexpr std::size_t fields_of(Kind kind, bool request) noexcept {
  return kind == Kind::bulk || (kind == Kind::get && !request) ? 1 : kind == Kind::get ? 3 : 0;
}
constexpr std::size_t round_up(std::size_t bytes) noexcept { return (bytes + 15) & ~std::size_t{15}; }

/// Fields and arguments of a message with data that go as words.
inline constexpr std::size_t most_beside_data = 3;

/// What is sent: views of the caller's memory.
struct Outgoing {
  NodeId to = 0;
  std::uint32_t to_endpoint = 0;
  std::uint32_t from_endpoint = 0;
  tag_t tag = AM_NONE;
  Head head;
  std::array<std::uint64_t, 3> fields{};
  std::size_t field_count = 0;
  const am2_word_t* words = nullptr;
  const void* data = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] std::uint64_t endpoints() const noexcept {
    return to_endpoint | static_cast<std::uint64_t>(from_endpoint) << 32;
  }
  [[nodiscard]] bool goes_beside_words() const noexcept {
    return bytes != 0 && field_count + head.count <= most_beside_data;
  }
  /// The n-th of the fields and arguments, or 0 behind them.
  [[nodiscard]] std::uint64_t beside_data(std::size_t n) const noexcept {
    if (n < field_count) return fields[n];
    return n < field_count + head.count ? static_cast<std::uint64_t>(words[n - field_count]) : 0;
  }
  [[nodiscard]] std::size_t words_bytes() const noexcept { return (field_count + head.count) * 8; }
  [[nodiscard]] std::size_t payload_bytes() const noexcept {
    return bytes == 0 ? words_bytes() : round_up(words_bytes()) + bytes;
  }
  void write(std::byte* into) const noexcept;
};

enum class Came : std::uint8_t { request, reply, returned_request, returned_reply };

/// What has arrived. Its data lie in the network's memory, or the sender's, until it is kept.
struct Message {
  Came came = Came::request;
  int status = 0;  ///< of one that came back
  NodeId from = 0;
  std::uint32_t to_endpoint = 0;
  std::uint32_t from_endpoint = 0;
  tag_t tag = AM_NONE;
  Head head;
  std::array<std::uint64_t, 3> fields{};
  std::array<am2_word_t, max_words> words;  ///< zeros behind those that were sent, up to eight or to the end
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> kept;

  Message() noexcept {}  // NOLINT(*-member-init, *-use-equals-default): words are written once
  /// Of what a node sends to itself.
  Message(const Outgoing& message, Came came, NodeId from) noexcept;

  void set_words(const am2_word_t* sent, std::size_t count) noexcept;
  /// Takes a payload apart. False where it is no such message.
  [[nodiscard]] bool read(Payload payload) noexcept;
  /// The same for one whose payload is its data.
  [[nodiscard]] bool read(const std::array<std::uint64_t, most_beside_data>& beside,
                          Payload payload) noexcept;
  /// A copy of the data, for as long as it lives.
  void keep();
  [[nodiscard]] bool is_request() const noexcept {
    return came == Came::request || came == Came::returned_request;
  }
  /// As AM-II names it to handler 0.
  [[nodiscard]] op_t opcode() const noexcept;
};

inline void Message::set_words(const am2_word_t* sent, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i < count; ++i) words[i] = sent[i];
  for (const std::size_t end = count <= 8 ? 8 : max_words; i < end; ++i) words[i] = 0;
}

}  // namespace am::models::am2
