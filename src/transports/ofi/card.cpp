#include "transports/ofi/card.hpp"

#include <charconv>
#include <cstring>
#include <system_error>

namespace am::ofi {

std::string card_text(const Reachable& node) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = node.provider;
  text += ' ';
  for (const std::byte byte : node.address) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  if (node.source_port != 0) text += '@' + std::to_string(node.source_port);
  if (node.place != 0) text += '%' + std::to_string(node.place);
  if (!node.lifeline.empty()) (text += ' ') += node.lifeline;
  return text;
}

namespace {
/// Cuts the mark and what follows it off, if it is there. False where that is no number.
template <class Number>
bool take_number_behind(char mark, std::string_view& text, Number& number) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return true;
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc{} || read_to != end) return false;
  text = text.substr(0, at);
  return true;
}
}  // namespace

std::optional<Reachable> read_card(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return {};
  Reachable node{std::string(text.substr(0, space)), {}};
  std::string_view digits = text.substr(space + 1);
  if (const std::size_t end = digits.find(' '); end != std::string_view::npos) {
    node.lifeline = digits.substr(end + 1);
    digits = digits.substr(0, end);
  }
  if (!take_number_behind('%', digits, node.place) || !take_number_behind('@', digits, node.source_port))
    return {};
  if (digits.empty() || digits.size() % 2 != 0) return {};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return {};
    node.address.push_back(std::byte{byte});
  }
  return node;
}

namespace {
std::string_view text_of(const host::NodeCard& card) {
  return {card.address, strnlen(card.address, sizeof card.address)};
}
}  // namespace

std::optional<Reachable> read_card(const host::NodeCard& card) { return read_card(text_of(card)); }

bool is_a_nodes(const host::Board& board, const tcp::Address& source) {
  const std::string port = '@' + std::to_string(source.port());
  for (NodeId node = 0; node < board.nodes(); ++node) {
    const std::string_view text = text_of(board.card(node));
    if (text.find(port) == std::string_view::npos) continue;
    const auto known = read_card(text);
    if (!known || known->source_port != source.port()) continue;
    const auto address = tcp::Address::of(reinterpret_cast<const sockaddr*>(known->address.data()),
                                          static_cast<socklen_t>(known->address.size()));
    if (address && address->bytes() == source.bytes()) return true;
  }
  return false;
}

}  // namespace am::ofi
