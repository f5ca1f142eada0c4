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

bool Message::read(Payload payload) {
  const std::size_t field_count = fields_of(head.kind, is_request());
  const std::size_t words_bytes = (field_count + head.count) * 8;
  if (head.count > max_words || payload.size() < words_bytes) return false;
  if (payload.empty()) return true;
  std::memcpy(fields.data(), payload.data(), field_count * 8);
  std::memcpy(words.data(), payload.data() + field_count * 8, std::size_t{head.count} * 8);
  if (payload.size() <= round_up(words_bytes)) return payload.size() == words_bytes;
  bytes = payload.size() - round_up(words_bytes);
  data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(data.get(), payload.data() + round_up(words_bytes), bytes);
  return true;
}

op_t Message::opcode() const noexcept {
  constexpr std::array kinds = {1, 2, 4, 8};
  return (is_request() ? REQUEST : REPLY) | kinds[static_cast<std::size_t>(head.kind)] | head.count << 8;
}

static_assert(sizeof(am2_word_t) == 8 && sizeof(tag_t) == 8 && sizeof(void*) == 8);

}  // namespace am::models::am2
