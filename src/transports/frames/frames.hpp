// What goes between two nodes of a network that carries bytes, once they have proved the job's key to each other (transports/trust):
// frames, one behind the other. Written and read by hand, byte by byte where it matters, so that it can be tested without a network.
//
// Each frame begins with eight bytes: its length, a multiple of 16, what it is, and a priority. What a frame has no use for is
// zero. Numbers: least significant byte first. When any of this changes, so does trust::Handshake::version.
//
//   message    head (impl::Header without lap and place), origin, payload bytes; words; payload, at a multiple of 16
//   credit     how many bytes of messages of that priority were released since the connection began: the newest counts
//   word       of the control lane (ControlLane::publish): which, and its value
//   clock      what is your clock? with the asker's (CLOCK_MONOTONIC), which the answer brings back
//   answer     that, and the clock of who answers
//   farewell   nothing comes behind it: the node leaves in order
//
// Where nodes read each other's memory (transports/ofi), and nowhere else:
//
//   elsewhere  a message whose payload its receiver is to read from the sender's memory: as a message, but where that lies,
//              address and key, in place of the payload
//   fetched    how many payloads of that priority were read so since the beginning: their memory is the sender's again
//   segment    address and key of the sender's global memory
//   probe      has all that I sent come? with a number, which the next one brings back
//   seen       yes: whatever was sent before the probe of that number has been read
//
// Whoever knows the job's key may still be broken: what is taken here is exactly what write_frame writes. Whether there are such
// a handler and such an origin core knows. No length is added to another before both are known to be small.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace am::frames {

inline constexpr std::size_t frame_alignment = 16;
/// The longest payload of one message: longer ones go in pieces.
inline constexpr std::size_t frame_payload_bytes = 1024 * 1024;

struct Frame {
  enum class Kind : std::uint8_t {
    message = 1,
    credit,
    word,
    clock,
    answer,
    farewell,
    elsewhere,
    fetched,
    segment,
    probe,
    seen
  };

  Kind kind = Kind::farewell;
  Priority priority = Priority::low;  ///< of a message, here or elsewhere, a credit or `fetched`

  // of a message, here or elsewhere
  impl::Header head{};
  NodeId origin = 0;
  std::array<std::uint64_t, impl::max_words> words{};
  Payload payload{};                  ///< where it lies in the bytes that were read
  std::uint32_t bytes_elsewhere = 0;  ///< of a payload that is not here

  std::uint32_t word = 0;
  std::uint64_t value = 0;    ///< of all but messages and farewells, unless one of these says it
  std::uint64_t clock = 0;    ///< of an answer
  std::uint64_t address = 0;  ///< of what can be read from afar, as the network names it
  std::uint64_t key = 0;
};

constexpr std::size_t aligned_to_frame(std::size_t bytes) noexcept {
  return (bytes + frame_alignment - 1) / frame_alignment * frame_alignment;
}
/// Where the words of a message begin in its frame, and its payload.
inline constexpr std::size_t message_words_at = 24;
[[nodiscard]] constexpr std::size_t payload_at(std::size_t words) noexcept {
  return aligned_to_frame(message_words_at + 8 * words);
}
/// How long the frame of such a message is.
[[nodiscard]] constexpr std::size_t message_bytes(std::size_t words, std::size_t payload_bytes) noexcept {
  return payload_at(words) + aligned_to_frame(payload_bytes);
}
/// The same where the payload is elsewhere.
inline constexpr std::size_t place_bytes = 16;
[[nodiscard]] constexpr std::size_t elsewhere_bytes(std::size_t words) noexcept {
  return payload_at(words) + place_bytes;
}
inline constexpr std::size_t longest_head = payload_at(impl::max_words);
inline constexpr std::size_t longest_frame = longest_head + frame_payload_bytes;

[[nodiscard]] std::size_t frame_bytes(const Frame& frame) noexcept;
/// Writes a frame and returns its length. `to` has room for it (frame_bytes).
std::size_t write_frame(std::byte* to, const Frame& frame) noexcept;
/// The parts of a message's frame: what is in front of the payload, payload_at() bytes, and the payload, aligned_to_frame() bytes.
void write_message_head(std::byte* to, Priority priority, impl::Header head, NodeId origin,
                        const std::uint64_t* words, std::size_t payload_bytes) noexcept;
void write_payload(std::byte* to, Payload payload) noexcept;
/// The whole frame of a message whose payload is elsewhere, elsewhere_bytes().
struct Place {
  std::uint64_t address;
  std::uint64_t key;
};
void write_elsewhere(std::byte* to, Priority priority, impl::Header head, NodeId origin,
                     const std::uint64_t* words, std::size_t payload_bytes, Place place) noexcept;

/// What the next bytes are.
struct Read {
  enum class Outcome : std::uint8_t { frame, more, malformed };
  Outcome outcome;
  std::size_t bytes = 0;      ///< of the frame; or, where there is more to come, how many are needed at least
  std::string_view why = {};  ///< malformed: for people
};
/// `from` begins at a frame, and at an address that is a multiple of 16. The payload of `frame` is a part of it.
[[nodiscard]] Read read_frame(std::span<const std::byte> from, Frame& frame) noexcept;

/// A message that is not there as a whole.
struct BegunMessage {
  Frame frame{};  ///< without payload
  std::size_t payload_bytes = 0;
};
/// The message that `from` begins with, at least longest_head bytes of it. None where it is no message, or malformed, as
/// read_frame will say of the whole.
[[nodiscard]] std::optional<BegunMessage> read_begun_message(std::span<const std::byte> from) noexcept;
/// Whether what follows the payload in a frame is as it has to be.
[[nodiscard]] bool is_padding(std::span<const std::byte> bytes) noexcept;
inline constexpr std::string_view wrong_padding = "a frame has content in a place that stays empty";

}  // namespace am::frames
