// The sentence about a name that is not known, which names those that are.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace am::kit {

/// The place of `name` in `known`. Throws std::invalid_argument where it has none: "`what` is mesh, torus or fattree, not 'ring'".
template <class Names>
[[nodiscard]] std::size_t index_of_name(const char* what, std::string_view name, const Names& known) {
  std::string all;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == name) return i;
    all += i == 0 ? "" : i + 1 == known.size() ? " or " : ", ";
    all += known[i];
  }
  throw std::invalid_argument(std::string(what) + " is " + all + ", not '" + std::string(name) + "'");
}

}  // namespace am::kit
