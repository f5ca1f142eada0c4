#include "transports/ofi/card.hpp"

#include <charconv>
#include <cstring>

namespace am::ofi {

std::string card_text(const Reachable& node) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = node.provider;
  text += ' ';
  for (const std::byte byte : node.address) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  if (!node.lifeline.empty()) (text += ' ') += node.lifeline;
  return text;
}

std::optional<Reachable> read_card(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return {};
  Reachable node{std::string(text.substr(0, space)), {}};
  std::string_view digits = text.substr(space + 1);
  if (const std::size_t end = digits.find(' '); end != std::string_view::npos) {
    node.lifeline = digits.substr(end + 1);
    digits = digits.substr(0, end);
  }
  if (digits.empty() || digits.size() % 2 != 0) return {};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return {};
    node.address.push_back(std::byte{byte});
  }
  return node;
}

std::optional<Reachable> read_card(const host::NodeCard& card) {
  return read_card(std::string_view(card.address, strnlen(card.address, sizeof card.address)));
}

}  // namespace am::ofi
