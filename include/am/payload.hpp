// The two ways a message's payload appears: as bytes to send, and as bytes that came. Neither owns them.
#pragma once

#include <am/impl/packet.hpp>
#include <am/impl/plain_value.hpp>
#include <cstddef>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace am {

class Payload;

namespace impl {

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

/// A string literal, which ends in a NUL, or a pointer to characters. An array that is not const is a buffer.
template <class T, class Object = std::remove_reference_t<T>>
concept BareText = is_character<std::remove_cv_t<std::remove_pointer_t<std::decay_t<Object>>>> &&
    (std::is_pointer_v<Object> || (std::is_array_v<Object> && std::is_const_v<Object>));

}  // namespace impl

/// What can be sent as a payload: contiguous plain values (am/impl/plain_value.hpp), but no string literal.
template <class R>
concept PayloadRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                       impl::PlainValue<std::ranges::range_value_t<R>> && !impl::BareText<R> &&
                       !std::is_same_v<std::remove_cvref_t<R>, Payload>;

/// Bytes of a message beside its arguments: any size, zero included. A handler takes it as its last parameter; the
/// bytes are valid while the handler runs. A sender passes any contiguous range of plain values there (a std::vector, a
/// std::string, a std::span of numbers or structs); the bytes are copied before the send returns.
class Payload {
 public:
  constexpr Payload() = default;
  constexpr Payload(const void* data, std::size_t bytes) noexcept
      : data_(static_cast<const std::byte*>(data)), bytes_(bytes) {}

  /// Implicit, so that a vector or a string is written as itself.
  template <PayloadRange R>
  // NOLINTNEXTLINE(google-explicit-constructor, bugprone-forwarding-reference-overload): the concept excludes Payload
  constexpr Payload(R&& range) noexcept
      : Payload(std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)) {}

  /// Does not compile.
  template <impl::BareText T>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the concept excludes Payload
  constexpr explicit Payload(T&& /*text*/) noexcept {
    static_assert(!impl::BareText<T>,
                  "libam: a string literal as payload has a NUL at its end, and a char* no length: write "
                  "std::string_view(text), or std::span(text) for the whole of an array");
  }

  /// Its first byte.
  [[nodiscard]] constexpr const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return bytes_; }  ///< bytes
  /// Whether it has no bytes.
  [[nodiscard]] constexpr bool empty() const noexcept { return bytes_ == 0; }
  /// All of its bytes.
  [[nodiscard]] constexpr std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }

  /// The payload as values of T, in place. Throws std::length_error when it is not a whole number of them. Payloads begin
  /// aligned as memory from malloc does: 16 bytes.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    static_assert(impl::PlainValue<T>,
                  "libam: a payload is read as trivially copyable values without pointers; a text as "
                  "as<char>()");
    static_assert(alignof(T) <= impl::payload_alignment,
                  "libam: a payload begins aligned to 16 bytes: copy values that need more out of bytes()");
    if (bytes_ % sizeof(T) != 0)
      throw std::length_error("am::Payload::as: its " + std::to_string(bytes_) +
                              " bytes are no whole number of values of " + std::to_string(sizeof(T)) +
                              " bytes");
    return {reinterpret_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace am
