// A text within JSON, also where that stands in a page: no character ends a script.
#pragma once

#include <string>
#include <string_view>

namespace amsim {

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

}  // namespace amsim
