// A word of the M-Machine: 64 bits, and the tag that says whether they are a guarded pointer. Programs compute with both; only what
// is privileged sets the tag (guarded_pointer.hpp). And what its fields may hold: bits, and a node's place.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.1 and Figure 5-4; the flits of 4.1 and the
// events of 4.2.3 carry 65 bits of it.
#pragma once

#include <cstdint>
#include <string>

namespace am::mmachine {

struct Word {
  std::uint64_t bits = 0;
  bool is_pointer = false;

  friend constexpr bool operator==(const Word&, const Word&) = default;
};

/// The lowest bits of a value; all of it for 64 and more.
constexpr std::uint64_t low(std::uint64_t value, unsigned bits) noexcept {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
/// The field of so many bits, up to 8, that begins at bit `at`.
constexpr std::uint8_t field(std::uint64_t value, unsigned at, unsigned bits) noexcept {
  return static_cast<std::uint8_t>(low(value >> at, bits));
}

/// A node's place in the mesh, each of 5 bits.
struct NodePlace {
  std::uint8_t x = 0;
  std::uint8_t y = 0;

  friend constexpr bool operator==(const NodePlace&, const NodePlace&) = default;
};
/// For people: "[3, 2]".
[[nodiscard]] inline std::string to_text(NodePlace place) {
  return '[' + std::to_string(place.x) + ", " + std::to_string(place.y) + ']';
}

/// A node's number, as headers and programs have it, and physical DestAddrs: 10 bits, y over x.
constexpr unsigned place_bits = 5;
constexpr std::uint64_t nid_of(NodePlace place) noexcept {
  return low(place.y, place_bits) << place_bits | low(place.x, place_bits);
}
constexpr NodePlace place_of(std::uint64_t nid) noexcept {
  return {field(nid, 0, place_bits), field(nid, place_bits, place_bits)};
}

}  // namespace am::mmachine
