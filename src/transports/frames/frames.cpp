#include "transports/frames/frames.hpp"

#include <algorithm>
#include <cstring>

#include "transports/number.hpp"

namespace am::frames {

namespace {

using Kind = Frame::Kind;

// Where things lie in a frame.
constexpr std::size_t kind_at = 4;
constexpr std::size_t priority_at = 5;
constexpr std::size_t zeros_at = 6;
constexpr std::size_t first_at = 8;
constexpr std::size_t second_at = 16;
constexpr std::size_t head_at = first_at;
constexpr std::size_t origin_at = 16;
constexpr std::size_t payload_bytes_at = 20;
constexpr std::size_t words_at = message_words_at;
static_assert(words_at == payload_bytes_at + 4 && words_at % frame_alignment == 8);

static_assert(aligned_to_frame(words_at + impl::max_words * 8) + frame_payload_bytes <= longest_frame);

/// Of frames other than messages.
constexpr std::size_t bytes_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::credit:
    case Kind::clock:
    case Kind::farewell:
    case Kind::fetched:
    case Kind::probe:
    case Kind::seen:
      return 16;
    case Kind::word:
    case Kind::answer:
    case Kind::segment:
      return 32;
    case Kind::message:
    case Kind::elsewhere:
      break;
  }
  return 0;
}

constexpr bool is_message(Kind kind) noexcept { return kind == Kind::message || kind == Kind::elsewhere; }
constexpr bool has_priority(Kind kind) noexcept {
  return is_message(kind) || kind == Kind::credit || kind == Kind::fetched;
}

std::string_view what_is_wrong(const Frame& message, std::size_t payload_bytes, std::size_t bytes) noexcept {
  constexpr std::uint16_t known = impl::flag::known & ~impl::flag::elsewhere;
  const impl::Header head = message.head;
  if (head.lap() != 0 || head.place() != 0 || (head.flags() & ~known) != 0)
    return "a message's header has values that no message has";
  if (head.words() > impl::max_words) return "a message has too many words";
  if (payload_bytes > frame_payload_bytes) return "a message's payload is too long";
  if (head.has(impl::flag::payload) != (payload_bytes != 0))
    return "a message does not know whether it has a payload";
  const bool more = head.has(impl::flag::more);
  if ((more || head.has(impl::flag::last)) && payload_bytes == 0) return "a piece of a payload is empty";
  if (more && (head.words() != 1 || head.flags() != (impl::flag::more | impl::flag::payload)))
    return "a piece of a payload has values that no piece has";
  const bool is_here = message.kind == Kind::message;
  if (!is_here && payload_bytes == 0) return "a payload that is elsewhere is empty";
  if (bytes != (is_here ? message_bytes(head.words(), payload_bytes) : elsewhere_bytes(head.words())))
    return "a message's frame has another length than it";
  return {};
}

/// What stands before the payload of a message whose frame has so many bytes. Says what is wrong with it, if something is.
std::string_view read_message_head(std::span<const std::byte> from, std::size_t bytes, Frame& frame,
                                   std::size_t& payload_bytes) noexcept {
  frame.head.bits = number_at<std::uint64_t>(&from[head_at]);
  frame.origin = number_at<std::uint32_t>(&from[origin_at]);
  payload_bytes = number_at<std::uint32_t>(&from[payload_bytes_at]);
  if (const std::string_view why = what_is_wrong(frame, payload_bytes, bytes); !why.empty()) return why;
  const std::size_t words = frame.head.words();
  const std::size_t words_end = words_at + 8 * words;
  if (!is_padding(from.subspan(words_end, payload_at(words) - words_end))) return wrong_padding;
  for (std::size_t i = 0; i < words; ++i) frame.words[i] = number_at<std::uint64_t>(&from[words_at + 8 * i]);
  return {};
}

Read read_message(std::span<const std::byte> from, Frame& frame) noexcept {
  std::size_t payload_bytes = 0;
  const std::string_view why = read_message_head(from, from.size(), frame, payload_bytes);
  if (!why.empty()) return {Read::Outcome::malformed, from.size(), why};
  const std::size_t begin = payload_at(frame.head.words());
  if (frame.kind == Kind::elsewhere) {
    frame.bytes_elsewhere = static_cast<std::uint32_t>(payload_bytes);
    frame.address = number_at<std::uint64_t>(&from[begin]);
    frame.key = number_at<std::uint64_t>(&from[begin + 8]);
    return {Read::Outcome::frame, from.size()};
  }
  if (!is_padding(from.subspan(begin + payload_bytes)))
    return {Read::Outcome::malformed, from.size(), wrong_padding};
  frame.payload = from.subspan(begin, payload_bytes);
  return {Read::Outcome::frame, from.size()};
}

Read read_other(std::span<const std::byte> from, Frame& frame) noexcept {
  const auto first = number_at<std::uint64_t>(&from[first_at]);
  std::size_t end = second_at;
  std::uint64_t largest = ~std::uint64_t{0};
  frame.value = first;
  if (frame.kind == Kind::farewell) largest = 0;
  if (from.size() > second_at) {
    const auto second = number_at<std::uint64_t>(&from[second_at]);
    end += 8;
    if (frame.kind == Kind::word) {
      largest = ~std::uint32_t{0};
      frame.word = static_cast<std::uint32_t>(first);
      frame.value = second;
    } else if (frame.kind == Kind::segment) {
      frame.value = 0;
      frame.address = first;
      frame.key = second;
    } else {
      frame.clock = second;
    }
  }
  if (first > largest || !is_padding(from.subspan(end)))
    return {Read::Outcome::malformed, from.size(), wrong_padding};
  return {Read::Outcome::frame, from.size()};
}

/// The first eight bytes of a frame, of which at least frame_alignment are there.
Read read_beginning(std::span<const std::byte> from, Frame& frame) noexcept {
  const std::size_t bytes = number_at<std::uint32_t>(from.data());
  const auto kind = number_at<std::uint8_t>(&from[kind_at]);
  const auto priority = number_at<std::uint8_t>(&from[priority_at]);
  const auto malformed = [&](std::string_view why) { return Read{Read::Outcome::malformed, bytes, why}; };
  if (bytes > longest_frame || bytes < frame_alignment || bytes % frame_alignment != 0)
    return malformed("a frame has a length that none can have");
  if (kind < static_cast<std::uint8_t>(Kind::message) || kind > static_cast<std::uint8_t>(Kind::seen))
    return malformed("a frame is of no kind that there is");
  if (priority > (has_priority(static_cast<Kind>(kind)) ? static_cast<std::uint8_t>(Priority::high) : 0) ||
      number_at<std::uint16_t>(&from[zeros_at]) != 0)
    return malformed(wrong_padding);
  frame = {};
  frame.kind = static_cast<Kind>(kind);
  frame.priority = static_cast<Priority>(priority);
  if (!is_message(frame.kind) && bytes != bytes_of(frame.kind))
    return malformed("a frame has another length than its kind");
  if (is_message(frame.kind) && bytes < message_bytes(0, 0))
    return malformed("a message's frame has another length than it");
  return {from.size() < bytes ? Read::Outcome::more : Read::Outcome::frame, bytes};
}

void write_beginning(std::byte* to, std::size_t bytes, Kind kind, Priority priority) noexcept {
  put_number(to, static_cast<std::uint32_t>(bytes));
  to[kind_at] = static_cast<std::byte>(kind);
  to[priority_at] = static_cast<std::byte>(priority);
  put_number(&to[zeros_at], std::uint16_t{0});
}

}  // namespace

bool is_padding(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

namespace {
void write_head(std::byte* to, Kind kind, std::size_t bytes, Priority priority, impl::Header head,
                NodeId origin, const std::uint64_t* words, std::size_t payload_bytes) noexcept {
  const std::size_t count = head.words();
  write_beginning(to, bytes, kind, priority);
  put_number(&to[head_at], head.bits);
  put_number(&to[origin_at], std::uint32_t{origin});
  put_number(&to[payload_bytes_at], static_cast<std::uint32_t>(payload_bytes));
  for (std::size_t i = 0; i < count; ++i) put_number(&to[words_at + 8 * i], words[i]);
  if (count % 2 == 0) put_number(&to[words_at + 8 * count], std::uint64_t{0});  // up to a multiple of 16
}
}  // namespace

void write_message_head(std::byte* to, Priority priority, impl::Header head, NodeId origin,
                        const std::uint64_t* words, std::size_t payload_bytes) noexcept {
  write_head(to, Kind::message, message_bytes(head.words(), payload_bytes), priority, head, origin, words,
             payload_bytes);
}

void write_elsewhere(std::byte* to, Priority priority, impl::Header head, NodeId origin,
                     const std::uint64_t* words, std::size_t payload_bytes, Place place) noexcept {
  const std::size_t count = head.words();
  write_head(to, Kind::elsewhere, elsewhere_bytes(count), priority, head, origin, words, payload_bytes);
  put_number(to + payload_at(count), place.address);
  put_number(to + payload_at(count) + 8, place.key);
}

void write_payload(std::byte* to, Payload payload) noexcept {
  if (payload.empty()) return;
  std::memcpy(to, payload.data(), payload.size());
  std::memset(to + payload.size(), 0, aligned_to_frame(payload.size()) - payload.size());
}

std::size_t frame_bytes(const Frame& frame) noexcept {
  if (frame.kind == Kind::elsewhere) return elsewhere_bytes(frame.head.words());
  return frame.kind == Kind::message ? message_bytes(frame.head.words(), frame.payload.size())
                                     : bytes_of(frame.kind);
}

std::size_t write_frame(std::byte* to, const Frame& frame) noexcept {
  if (frame.kind == Kind::message) {
    write_message_head(to, frame.priority, frame.head, frame.origin, frame.words.data(),
                       frame.payload.size());
    write_payload(to + payload_at(frame.head.words()), frame.payload);
    return message_bytes(frame.head.words(), frame.payload.size());
  }
  if (frame.kind == Kind::elsewhere) {
    write_elsewhere(to, frame.priority, frame.head, frame.origin, frame.words.data(), frame.bytes_elsewhere,
                    {frame.address, frame.key});
    return elsewhere_bytes(frame.head.words());
  }
  const std::size_t bytes = bytes_of(frame.kind);
  const bool word = frame.kind == Kind::word;
  const bool segment = frame.kind == Kind::segment;
  write_beginning(to, bytes, frame.kind, frame.priority);
  put_number(&to[first_at], word ? std::uint64_t{frame.word} : segment ? frame.address : frame.value);
  if (bytes > second_at) put_number(&to[second_at], word ? frame.value : segment ? frame.key : frame.clock);
  if (bytes > second_at) put_number(&to[second_at + 8], std::uint64_t{0});
  return bytes;
}

Read read_frame(std::span<const std::byte> from, Frame& frame) noexcept {
  if (from.size() < frame_alignment) return {Read::Outcome::more, frame_alignment};
  const Read beginning = read_beginning(from, frame);
  if (beginning.outcome != Read::Outcome::frame) return beginning;
  from = from.first(beginning.bytes);
  return is_message(frame.kind) ? read_message(from, frame) : read_other(from, frame);
}

std::optional<BegunMessage> read_begun_message(std::span<const std::byte> from) noexcept {
  BegunMessage message;
  const Read beginning = read_beginning(from, message.frame);
  if (beginning.outcome == Read::Outcome::malformed || message.frame.kind != Kind::message) return {};
  const std::string_view why = read_message_head(from, beginning.bytes, message.frame, message.payload_bytes);
  if (!why.empty()) return {};
  return message;
}

}  // namespace am::frames
