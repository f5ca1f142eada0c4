// How a handler's arguments lie in the words of a packet.
#pragma once

#include <am/impl/packet.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace am::impl {

/// Where each argument begins, and where the last one ends, in bytes: one after another, each at its natural alignment but at
/// most 8.
template <class... Args>
constexpr auto argument_offsets() {
  std::array<std::size_t, sizeof...(Args) + 1> offsets{};
  std::size_t at = 0;
  std::size_t i = 0;
  (([&] {
     const std::size_t align = alignof(Args) < 8 ? alignof(Args) : 8;
     at = (at + align - 1) / align * align;
     offsets[i++] = at;
     at += sizeof(Args);
   }()),
   ...);
  offsets[i] = at;
  return offsets;
}

template <class... Args>
struct Arguments {
  static constexpr auto offsets = argument_offsets<Args...>();
  static constexpr std::size_t bytes = offsets[sizeof...(Args)];
  static constexpr std::size_t words = (bytes + 7) / 8;

  static void pack(std::uint64_t* to, const Args&... args) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::memcpy(reinterpret_cast<std::byte*>(to) + offsets[I], &args, sizeof(Args)), ...);
    }
    (std::index_sequence_for<Args...>{});
  }
  template <class T, std::size_t I>
  static T unpack(const std::uint64_t* from) noexcept {
    alignas(T) std::byte copy[sizeof(T)];
    std::memcpy(copy, reinterpret_cast<const std::byte*>(from) + offsets[I], sizeof(T));
    return std::bit_cast<T>(copy);
  }
};

template <class Parameters, class Indices>
struct ArgumentsOf;
template <class Parameters, std::size_t... I>
struct ArgumentsOf<Parameters, std::index_sequence<I...>> {
  using type = Arguments<std::tuple_element_t<I, Parameters>...>;
};

}  // namespace am::impl
