// Texts that are put together of texts and numbers; and within JSON, also where that stands in a page: no character ends a script.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace am::kit {

/// One behind the other: texts, characters, and whole numbers in decimal.
template <class... Parts>
[[nodiscard]] std::string text_of(const Parts&... parts) {
  std::string all;
  const auto add = [&all](const auto& part) {
    if constexpr (std::integral<std::remove_cvref_t<decltype(part)>> &&
                  !std::same_as<std::remove_cvref_t<decltype(part)>, char>) {
      all += std::to_string(part);
    } else {
      all += part;
    }
  };
  (add(parts), ...);
  return all;
}

/// In quotes. What is no character of its own in UTF-8 stays as it is.
[[nodiscard]] inline std::string json_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || c == '"' || c == '\\' || c == '<' || c == 0x7f) {
      quoted += "\\u00";
      quoted += digits[code >> 4];
      quoted += digits[code & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace am::kit
