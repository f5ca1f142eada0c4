// A value that tells types apart without run-time type information, also where a program and a library that hides its symbols each
// have one of their own for the same type.
#pragma once

#include <string_view>

namespace am::impl {

/// A type's name is known to the whole program; but not of one in an unnamed namespace or in a function, of which another file may
/// have one of the same name. Of these each has one tag, and it counts which.
struct TypeTag {
  const char* unique = nullptr;  ///< one address for each type in each library
  std::string_view name;         ///< empty where it does not tell the type

  [[nodiscard]] constexpr bool is(const TypeTag& other) const noexcept {
    return unique == other.unique || (!name.empty() && name == other.name);
  }
};

template <class T>
constexpr std::string_view type_name() noexcept {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = name; ...]"
  constexpr std::string_view name = text.substr(text.find("T = "));
  constexpr bool is_local =
      name.find_first_of("({") != std::string_view::npos || name.find("<unnamed") != std::string_view::npos;
  return is_local ? std::string_view{} : name;
}

template <class T>
inline constexpr char type_place = 0;
template <class T>
inline constexpr TypeTag type_tag{&type_place<T>, type_name<T>()};

}  // namespace am::impl
