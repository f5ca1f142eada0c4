// The two ways a message's payload appears: as bytes to send, and as bytes that came. Neither owns them.
#pragma once

#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace am {

class Payload;

/// What can be sent as a payload: contiguous values without insides of their own.
template <class R>
concept PayloadRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>> &&
    !std::is_same_v<std::remove_cvref_t<R>, Payload>;

/// Bytes of a message beside its arguments: any size, zero included. A handler takes it as its last parameter; the
/// bytes are valid while the handler runs. A sender passes any contiguous range of trivially copyable values there;
/// the bytes are copied before the send returns.
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

  [[nodiscard]] constexpr const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return bytes_; }  ///< bytes
  [[nodiscard]] constexpr bool empty() const noexcept { return bytes_ == 0; }
  [[nodiscard]] constexpr std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }

  /// The payload as values of T, in place. Throws std::length_error when it is not a whole number of them. Payloads
  /// begin at least 64-byte aligned.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<const T> as() const {
    if (bytes_ % sizeof(T) != 0) throw std::length_error("am::Payload::as: not a whole number of values");
    return {reinterpret_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace am
