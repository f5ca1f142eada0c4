// Texts that are put together of texts and numbers.
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

}  // namespace am::kit
