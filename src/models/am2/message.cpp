#include "models/am2/message.hpp"

#include <cstring>

namespace am::models::am2 {

void Outgoing::write(std::byte* into) const noexcept {
  std::memcpy(into, fields.data(), field_count * 8);
  for (std::size_t i = 0; i < head.count; ++i) {
    const auto word = static_cast<std::uint64_t>(words[i]);
    std::memcpy(into + (field_count + i) * 8, &word, 8);
  }
  if (bytes != 0) std::memcpy(into + round_up(words_bytes()), data, bytes);
}

// NOLINTNEXTLINE(*-member-init): words are written once
Message::Message(const Outgoing& message, Came how, NodeId sender) noexcept
    : came(how),
      from(sender),
      to_endpoint(message.to_endpoint),
      from_endpoint(message.from_endpoint),
      tag(message.tag),
      head(message.head),
      fields(message.fields),
      data(static_cast<const std::byte*>(message.data)),
      bytes(message.bytes) {
  set_words(message.words, head.count);
}

bool Message::read(Payload payload) noexcept {
  const std::size_t field_count = fields_of(head.kind, is_request());
  const std::size_t words_bytes = (field_count + head.count) * 8;
  if (head.count > max_words || payload.size() < words_bytes) return false;
  std::array<am2_word_t, max_words> sent{};
  if (words_bytes != 0) {
    std::memcpy(fields.data(), payload.data(), field_count * 8);
    std::memcpy(sent.data(), payload.data() + field_count * 8, std::size_t{head.count} * 8);
  }
  set_words(sent.data(), head.count);
  if (payload.size() <= round_up(words_bytes)) return payload.size() == words_bytes;
  bytes = payload.size() - round_up(words_bytes);
  data = payload.data() + round_up(words_bytes);
  return true;
}

bool Message::read(const std::array<std::uint64_t, most_beside_data>& beside, Payload payload) noexcept {
  const std::size_t field_count = fields_of(head.kind, is_request());
  if (field_count + head.count > beside.size() || head.kind == Kind::small) return false;
  std::array<am2_word_t, most_beside_data> sent{};
  for (std::size_t i = 0; i < beside.size(); ++i) {
    if (i < field_count) {
      fields[i] = beside[i];
    } else {
      sent[i - field_count] = static_cast<am2_word_t>(beside[i]);
    }
  }
  set_words(sent.data(), head.count);
  data = payload.data();
  bytes = payload.size();
  return true;
}

void Message::keep() {
  if (data == nullptr || kept != nullptr) return;
  kept = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (bytes != 0) std::memcpy(kept.get(), data, bytes);
  data = kept.get();
}

op_t Message::opcode() const noexcept {
  constexpr std::array kinds = {1, 2, 4, 8};
  return (is_request() ? REQUEST : REPLY) | kinds[static_cast<std::size_t>(head.kind)] | head.count << 8;
}

static_assert(sizeof(am2_word_t) == 8 && sizeof(tag_t) == 8 && sizeof(void*) == 8);

}  // namespace am::models::am2
