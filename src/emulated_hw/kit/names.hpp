// Names in a sentence; and that about one that is not known, which names those that are.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace am::kit {

/// "a, b or c", where `last` is " or "; `name(one)` is that of each.
template <class Some, class Name = std::identity>
[[nodiscard]] std::string listed(const Some& some, std::string_view last, Name name = {}) {
  std::string all;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (i != 0) all += i + 1 == some.size() ? last : ", ";
    all += std::invoke(name, some[i]);
  }
  return all;
}

/// The place of `name` in `known`. Throws std::invalid_argument where it has none: "`what` is mesh, torus or fattree, not 'ring'".
template <class Names>
[[nodiscard]] std::size_t index_of_name(const char* what, std::string_view name, const Names& known) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == name) return i;
  }
  throw std::invalid_argument(std::string(what) + " is " + listed(known, " or ") + ", not '" +
                              std::string(name) + "'");
}

}  // namespace am::kit
