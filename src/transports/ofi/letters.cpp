#include "transports/ofi/letters.hpp"

#include "transports/number.hpp"

namespace am::ofi {

void LetterHead::write(std::byte* to) const noexcept {
  put_number(to, from);
  put_number(to + 4, number);
  put_number(to + 8, seal);
}

LetterHead LetterHead::read(const std::byte* from) noexcept {
  return {number_at<std::uint32_t>(from), number_at<std::uint32_t>(from + 4),
          number_at<std::uint64_t>(from + 8)};
}

Letter* Paper::take() {
  if (free_.empty()) {
    auto sheet = std::make_unique<Sheet>();
    const std::size_t bytes = letters_per_sheet * letter_room_;
    sheet->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
    sheet->registration = endpoint_.registration({sheet->bytes.get(), bytes}, Endpoint::Use::own);
    sheet->letters.resize(letters_per_sheet);
    for (std::size_t i = 0; i < letters_per_sheet; ++i) {
      Letter& letter = sheet->letters[i];
      letter.kind = Operation::Kind::send;
      letter.bytes = sheet->bytes.get() + i * letter_room_;
      letter.descriptor = sheet->registration.descriptor;
      free_.push_back(&letter);
    }
    sheets_.push_back(std::move(sheet));
  }
  Letter* const letter = free_.back();
  free_.pop_back();
  letter->filled = letter_head_bytes;
  letter->is_followed = false;
  letter->is_greeting = false;
  return letter;
}

}  // namespace am::ofi
