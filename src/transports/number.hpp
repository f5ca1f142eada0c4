// Numbers as they travel between hosts, whatever machines these are: least significant byte first.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>

namespace am {

template <std::unsigned_integral Number>
void put_number(std::byte* to, Number number) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &number, sizeof number);
  } else {
    for (std::size_t i = 0; i < sizeof number; ++i) to[i] = static_cast<std::byte>(number >> (8 * i));
  }
}

template <std::unsigned_integral Number>
[[nodiscard]] Number number_at(const std::byte* from) noexcept {
  Number number = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&number, from, sizeof number);
  } else {
    for (std::size_t i = 0; i < sizeof number; ++i)
      number = static_cast<Number>(number | static_cast<Number>(from[i]) << (8 * i));
  }
  return number;
}

template <std::unsigned_integral Number>
void append_number(std::string& to, Number number) {
  std::byte bytes[sizeof number];
  put_number(bytes, number);
  to.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

}  // namespace am
