#include "core/job/invitation.hpp"

#include <span>

#include "host/random_bytes.hpp"

namespace am::core {

namespace {

constexpr std::string_view invitation_prefix = "am1:";

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

bool parse_hex(std::string_view text, std::span<std::byte> room) {
  if (text.size() != 2 * room.size()) return false;
  for (std::size_t i = 0; i < room.size(); ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return false;
    room[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return true;
}

}  // namespace

Invitation Invitation::make() {
  Invitation invitation;
  host::fill_random(invitation.name);
  host::fill_random(invitation.key);
  return invitation;
}

std::optional<Invitation> Invitation::parse(std::string_view text) {
  Invitation invitation;
  if (!text.starts_with(invitation_prefix)) return std::nullopt;
  text.remove_prefix(invitation_prefix.size());
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !parse_hex(text.substr(0, colon), invitation.name) ||
      !parse_hex(text.substr(colon + 1), invitation.key)) {
    return std::nullopt;
  }
  return invitation;
}

std::string Invitation::text() const { return std::string(invitation_prefix) + hex(name) + ":" + hex(key); }

std::string Invitation::socket_name() const { return "libam-" + hex(name); }

}  // namespace am::core
