// Which values mean on another node what they mean here: those whose bytes are all there is of them. It is asked of a
// handler's arguments, a payload's values and what the collectives combine.
//
// That a type is trivially copyable does not suffice: a std::string_view is, and its copy points to where its text lay on
// the sender. What points is found by its kind, in the standard library's pairs, tuples, arrays, optionals and variants,
// and among the members of aggregates. Not found: private members of other classes, references, what is in a union behind its
// first member, and what stands behind 64 members of an aggregate (an array counts by its values).
#pragma once

#include <algorithm>
#include <am/impl/language.hpp>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace am {

class Payload;
class Request;
class Reply;
class Incoming;
class LowEvent;

/// For a type of yours that looks like a pointer or a view, and means the same on every node all the same: a cursor over an
/// am::GlobalPtr, a range that computes its values. `template <> inline constexpr bool am::is_plain_value<Cursor> = true;`
template <class T>
inline constexpr bool is_plain_value = false;

namespace impl {

/// Whether a T is, or holds, a pointer, a reference or a view.
template <class T>
consteval bool points();

template <class T, class... Some>
inline constexpr bool is_one_of = (std::is_same_v<T, Some> || ...);

template <class T>
inline constexpr bool is_reference_to_elsewhere =
    std::is_pointer_v<T> || std::is_member_function_pointer_v<T> ||
    is_one_of<T, Payload, Request, Reply, Incoming, LowEvent, std::error_code, std::error_condition>;
template <class T>
inline constexpr bool is_reference_to_elsewhere<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_reference_to_elsewhere<std::initializer_list<T>> = true;

/// std::span, std::string_view and what else shows what others own; iterators.
template <class T>
concept View =
    std::ranges::enable_view<T> || std::ranges::enable_borrowed_range<T> || std::input_or_output_iterator<T>;

template <class T>
inline constexpr bool parts_point = false;
template <class T, std::size_t n>
inline constexpr bool parts_point<T[n]> = points<T>();
template <class T, std::size_t n>
inline constexpr bool parts_point<std::array<T, n>> = points<T>();
template <class T>
inline constexpr bool parts_point<std::optional<T>> = points<T>();
template <class A, class B>
inline constexpr bool parts_point<std::pair<A, B>> = points<A>() || points<B>();
template <class... T>
inline constexpr bool parts_point<std::tuple<T...>> = (points<T>() || ...);
template <class... T>
inline constexpr bool parts_point<std::variant<T...>> = (points<T>() || ...);

// The members of an aggregate are tried out: it is initialised by objects that become whatever is wanted, and in one place
// by one that becomes nothing but what points. Where a constructor takes that as it is, one that becomes nothing at all
// would do, too, and nothing is said.

enum class Becomes { anything, what_points, nothing };

template <Becomes what>
struct Member {
  template <class T>
    requires(what == Becomes::anything || (what == Becomes::what_points && points<T>()))
  operator T&() const;  // NOLINT(google-explicit-constructor): it is there to be used unseen
};

template <class T, std::size_t place, Becomes what, std::size_t... I>
consteval bool takes(std::index_sequence<I...> /*all places*/) {
  return requires { T{Member<(I == place ? what : Becomes::anything)>()...}; };
}

/// How many initialisers an aggregate takes, arrays counted by their values; at most `most`.
template <class T, std::size_t most>
consteval std::size_t places() {
  if constexpr (most == 0 || takes<T, 0, Becomes::anything>(std::make_index_sequence<most>())) {
    return most;
  } else {
    return places<T, most - 1>();
  }
}

template <class T>
consteval bool members_point() {
  constexpr auto all = std::make_index_sequence<places<T, std::min<std::size_t>(sizeof(T), 64)>()>();
  return [all]<std::size_t... I>(std::index_sequence<I...>) {
    return ((takes<T, I, Becomes::what_points>(all) && !takes<T, I, Becomes::nothing>(all)) || ...);
  }
  (all);
}

template <class T>
consteval bool points() {
  using Value = std::remove_cv_t<T>;
  if constexpr (std::is_reference_v<T> || is_reference_to_elsewhere<Value> || parts_point<Value> ||
                View<Value>) {
    return !is_plain_value<Value>;
  } else if constexpr (std::is_aggregate_v<Value> && !std::is_array_v<Value> &&
                       std::is_trivially_copyable_v<Value>) {
    return !is_plain_value<Value> && members_point<Value>();
  } else {
    return false;
  }
}

template <class T>
inline constexpr bool is_copied_as_bytes =
    std::is_trivially_copyable_v<T>&& std::is_copy_constructible_v<std::remove_all_extents_t<T>>;

template <class T>
concept PlainValue = is_copied_as_bytes<T> && !points<T>();

}  // namespace impl
}  // namespace am
