// What a compiler says of a function that cannot be a handler: one line, with what to write instead.
#pragma once

#include <am/impl/arguments.hpp>
#include <am/impl/plain_value.hpp>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace am {

class Payload;
class Request;
class Reply;

namespace impl {

template <class T>
inline constexpr bool is_payload = std::is_same_v<std::remove_cvref_t<T>, Payload>;

template <class T>
inline constexpr bool is_pair_or_tuple = false;
template <class A, class B>
inline constexpr bool is_pair_or_tuple<std::pair<A, B>> = true;
template <class... T>
inline constexpr bool is_pair_or_tuple<std::tuple<T...>> = true;

/// Whether a T can be an argument or the payload; if not, an error says why.
template <class T>
consteval bool check_parameter() {
  if constexpr (is_payload<T>) {
    return true;
  } else if constexpr (std::is_array_v<T>) {
    static_assert(!std::is_array_v<T>,
                  "libam: an array is no argument: take a std::array, or the am::Payload");
  } else if constexpr (points<T>()) {
    static_assert(
        !points<T>(),
        "libam: a pointer means nothing on another node, nor does what holds one (std::span, "
        "std::string_view, std::reference_wrapper, an iterator): send what it points to as the "
        "am::Payload, or an am::GlobalPtr, or, if it only comes back to its node, a std::uintptr_t");
  } else if constexpr (is_pair_or_tuple<T>) {
    static_assert(!is_pair_or_tuple<T>,
                  "libam: std::pair and std::tuple are not trivially copyable: take a struct of your own");
  } else {
    static_assert(
        is_copied_as_bytes<T>,
        "libam: a handler's arguments must be trivially copyable values (std::string, std::vector "
        "and their like are not: send what they hold as the am::Payload; nor is what holds a std::pair "
        "or std::tuple: take a struct of your own)");
  }
  return PlainValue<T>;
}

template <class P>
inline constexpr bool is_value_or_const_reference =
    !std::is_reference_v<P> || (std::is_lvalue_reference_v<P> && std::is_const_v<std::remove_reference_t<P>>);

/// Whether no payload stands before another parameter.
template <class... P>
consteval bool payload_is_last() {
  std::size_t behind = sizeof...(P);
  return ((--behind == 0 || !is_payload<P>)&&...);
}

/// Whether void(M&, P...) can be a handler; if not, an error says why.
template <class M, class... P>
consteval bool check_signature() {
  constexpr bool has_message = std::is_same_v<M, Request> || std::is_same_v<M, Reply>;
  constexpr bool by_value = (is_value_or_const_reference<P> && ...);
  if constexpr (!has_message) {
    static_assert(has_message,
                  "libam: a handler's first parameter is am::Request& or am::Reply&; it decides the network");
  } else if constexpr (!by_value) {
    static_assert(by_value,
                  "libam: a handler's arguments arrive by value; take them by value or by const reference");
  } else if constexpr (!payload_is_last<P...>()) {
    static_assert(
        payload_is_last<P...>(),
        "libam: a handler has at most one am::Payload, its last parameter: put the arguments before it");
  } else if constexpr ((check_parameter<std::remove_cvref_t<P>>() && ...)) {
    constexpr std::size_t bytes =
        argument_offsets<std::remove_cvref_t<P>...>()[(std::size_t{!is_payload<P>} + ... + 0)];
    static_assert(
        bytes <= max_words * 8,
        "libam: a handler's arguments take more than 48 bytes (6 words of 64 bits); send the rest as "
        "its am::Payload");
    return bytes <= max_words * 8;
  }
  return false;
}

/// For what is no handler at all: false, with an error.
template <class F>
consteval bool check_is_handler() {
  static_assert(
      sizeof(F) == 0,
      "libam: a handler is a function or member function that returns void and takes am::Request& or "
      "am::Reply& first");
  return false;
}

}  // namespace impl
}  // namespace am
