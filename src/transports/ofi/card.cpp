#include "transports/ofi/card.hpp"

#include <am/error.hpp>

#include <charconv>
#include <cstring>

namespace am::ofi {

std::string card_text(std::string_view provider, const std::vector<std::byte>& address) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(provider);
  text += ' ';
  for (const std::byte byte : address) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::optional<Reachable> read_card(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return {};
  Reachable node{std::string(text.substr(0, space)), {}};
  const std::string_view digits = text.substr(space + 1);
  if (digits.empty() || digits.size() % 2 != 0) return {};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return {};
    node.address.push_back(std::byte{byte});
  }
  return node;
}

void write_card(const Endpoint& endpoint, host::NodeCard& card) {
  const std::string text = card_text(provider_of(endpoint.info()), endpoint.address());
  if (text.size() >= sizeof card.address) {
    throw Error("open a network over libfabric (" + provider_of(endpoint.info()) + ")",
                "its addresses are too long: " + std::to_string(endpoint.address().size()) + " bytes",
                "use another provider");
  }
  std::memcpy(card.address, text.c_str(), text.size() + 1);
}

}  // namespace am::ofi
