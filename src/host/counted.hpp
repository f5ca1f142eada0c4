// A number with its noun, for messages: "1 packet", "2 packets".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace am::host {

struct Counted {
  std::uint64_t number;
  std::string_view noun;  ///< of one; it takes an s for more

  [[nodiscard]] constexpr std::string_view ending() const noexcept { return number == 1 ? "" : "s"; }
  [[nodiscard]] std::string text() const {
    return std::to_string(number).append(" ").append(noun).append(ending());
  }
};

[[nodiscard]] inline std::string counted(std::uint64_t number, std::string_view noun) {
  return Counted{number, noun}.text();
}

}  // namespace am::host
