// AM-II's messages: what stands in the words and the payload of libam's, and how one waits for its endpoint to be polled.
//
//   words     endpoints (to | from << 32), tag, what it is (Head)
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
#include <span>

namespace am::models::am2 {

inline constexpr int max_words = 16;
inline constexpr int max_medium = 64 << 10;
inline constexpr int max_long = 512 << 10;

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

constexpr std::size_t fields_of(Kind kind, bool request) noexcept {
  return kind == Kind::bulk || (kind == Kind::get && !request) ? 1 : kind == Kind::get ? 3 : 0;
}
constexpr std::size_t round_up(std::size_t bytes) noexcept { return (bytes + 15) & ~std::size_t{15}; }

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
  [[nodiscard]] std::size_t words_bytes() const noexcept { return (field_count + head.count) * 8; }
  [[nodiscard]] std::size_t payload_bytes() const noexcept {
    return bytes == 0 ? words_bytes() : round_up(words_bytes()) + bytes;
  }
  void write(std::byte* into) const noexcept;
};

enum class Came : std::uint8_t { request, reply, returned_request, returned_reply };

/// What has arrived and was not run yet.
struct Message {
  Came came = Came::request;
  int status = 0;  ///< of one that came back
  NodeId from = 0;
  std::uint32_t to_endpoint = 0;
  std::uint32_t from_endpoint = 0;
  tag_t tag = AM_NONE;
  Head head;
  std::array<std::uint64_t, 3> fields{};
  std::array<am2_word_t, max_words> words{};
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> data;

  /// Takes a payload apart, and copies it. False where it is no such message.
  [[nodiscard]] bool read(Payload payload);
  [[nodiscard]] bool is_request() const noexcept {
    return came == Came::request || came == Came::returned_request;
  }
  /// As AM-II names it to handler 0.
  [[nodiscard]] op_t opcode() const noexcept;
};

}  // namespace am::models::am2
