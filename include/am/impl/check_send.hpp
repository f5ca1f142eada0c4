// What a compiler says of a send whose arguments do not suit its handler: one line, with what to write instead. Nothing of
// it is left when the program runs.
//
// Which arguments suit: those that become the handler's parameters by themselves, and no number a narrower one. An integer
// becomes one of its own width or a wider one, of whichever sign, or a floating-point number of its own width or a wider one;
// a floating-point number none that is narrower, and no integer; a bool only what is a bool. What a std::optional holds is
// looked at likewise. (A template does not see that a 7 is a 7: it is an int.)
#pragma once

#include <am/handler.hpp>
#include <am/payload.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace am::impl {

/// Braces do not narrow.
template <class To, class From>
concept HoldsAll = requires(From& value) {
  To{value};
};

/// By width: 1, 2, 4, 8 bytes; of a long double, 8.
template <std::size_t bytes>
using IntegerOf =
    std::tuple_element_t<std::bit_width(bytes) - 1,
                         std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::int64_t>>;

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};
template <class T>
using InOptional = typename Unwrapped<std::remove_cv_t<T>>::type;

template <class Parameter, class Argument>
consteval bool fits() {
  if constexpr (!std::is_same_v<InOptional<Parameter>, Parameter>) {
    using Value = InOptional<Argument>;
    if constexpr (std::is_arithmetic_v<Value>) {
      return fits<InOptional<Parameter>, Value>();
    } else {
      return true;  // std::nullopt, and what its own conversions make of it
    }
  } else if constexpr (!std::is_arithmetic_v<Parameter>) {
    return true;  // no number: its own conversions decide
  } else if constexpr (std::is_same_v<Parameter, bool>) {
    return HoldsAll<bool, Argument>;
  } else {
    using Integer = IntegerOf<sizeof(Parameter)>;
    return HoldsAll<Parameter, Argument> || HoldsAll<Integer, Argument> ||
           HoldsAll<std::make_unsigned_t<Integer>, Argument>;
  }
}

/// Whether an Argument suits a Parameter; if not, an error says why.
template <class Parameter, class Argument>
consteval bool check_argument() {
  constexpr bool converts = std::is_convertible_v<Argument&, const Parameter&>;
  if constexpr (!converts) {
    static_assert(converts,
                  "libam: an argument does not become the handler's parameter: pass one of its type");
  } else {
    constexpr bool fits_in = fits<Parameter, Argument>();
    static_assert(
        fits_in,
        "libam: an argument is a wider number than the handler's parameter, or one of another kind: "
        "widen the parameter, or write static_cast to its type");
    return fits_in;
  }
  return false;
}

/// Whether an Argument can be sent as the payload; if not, an error says why.
template <class Argument>
consteval bool check_payload() {
  if constexpr (std::is_constructible_v<Payload, Argument&>) {
    return true;  // or a text, of which the constructor says what is wrong
  } else if constexpr (std::ranges::range<Argument&>) {
    constexpr bool values_point = points<std::ranges::range_value_t<Argument&>>();
    static_assert(
        !values_point,
        "libam: a payload's values hold pointers, which mean nothing on another node: send what they "
        "point to");
    static_assert(
        values_point,
        "libam: a payload is a contiguous range of trivially copyable values (std::pair and std::tuple "
        "are not): copy these into a std::vector of such values, or a std::string");
  } else if constexpr (std::is_pointer_v<Argument>) {
    static_assert(!std::is_pointer_v<Argument>,
                  "libam: a pointer as payload has no length: write std::span(pointer, count)");
  } else {
    static_assert(
        std::ranges::range<Argument&>,
        "libam: a payload is a range (std::vector, std::string, std::span) or an am::Payload: for one "
        "value write std::span(&value, 1)");
  }
  return false;
}

template <class Traits, class... Arguments, std::size_t... I>
consteval bool check_arguments(std::index_sequence<I...> /*without the payload*/) {
  using All = std::tuple<Arguments&...>;
  bool fine = (check_argument<std::tuple_element_t<I, typename Traits::Parameters>,
                              std::remove_reference_t<std::tuple_element_t<I, All>>>() &&
               ...);
  if constexpr (sizeof...(Arguments) > Traits::arity)
    fine = fine && check_payload<std::remove_reference_t<std::tuple_element_t<Traits::arity, All>>>();
  return fine;
}

/// Whether a handler takes these Arguments; if not, an error says why.
template <class Traits, class... Arguments>
consteval bool check_send() {
  constexpr std::size_t parameters = Traits::arity + (Traits::has_payload ? 1 : 0);
  if constexpr (!Traits::sound) {
    return false;  // it has been said
  } else if constexpr (sizeof...(Arguments) == parameters) {
    return check_arguments<Traits, Arguments...>(std::make_index_sequence<Traits::arity>());
  } else {
    static_assert(sizeof...(Arguments) > parameters,
                  "libam: too few arguments: the handler has more parameters behind its first one");
    static_assert(
        sizeof...(Arguments) < parameters,
        "libam: too many arguments: the handler has fewer parameters behind its first one (to take a "
        "payload it needs an am::Payload as its last one)");
    return false;
  }
}

/// The same for a draft, whose payload comes later.
template <class Traits, class... Arguments>
consteval bool check_draft() {
  if constexpr (!Traits::sound) {
    return false;  // it has been said
  } else if constexpr (!Traits::has_payload) {
    static_assert(Traits::has_payload, "libam: prepare is for handlers that take an am::Payload");
  } else if constexpr (sizeof...(Arguments) != Traits::arity) {
    static_assert(
        sizeof...(Arguments) == Traits::arity,
        "libam: prepare takes one argument for each parameter of the handler between its first one and "
        "the payload, which is written into the draft");
  } else {
    return check_arguments<Traits, Arguments...>(std::make_index_sequence<Traits::arity>());
  }
  return false;
}

/// The handler's signature for one call. After an error it is one without parameters, so that nothing else is said of the
/// call.
template <class Traits, class... Arguments>
using SendTraits = std::conditional_t<check_send<Traits, std::remove_reference_t<Arguments>...>(), Traits,
                                      Signature<Request, void>>;
template <class Traits, class... Arguments>
using DraftTraits = std::conditional_t<check_draft<Traits, std::remove_reference_t<Arguments>...>(), Traits,
                                       Signature<Request, void>>;

}  // namespace am::impl
