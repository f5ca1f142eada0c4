#include "results/parameters.hpp"

#include <cstddef>
#include <string_view>

#include "results/no_such.hpp"
#include "results/usage_error.hpp"

namespace results {

Parameters::Parameters(const std::vector<Parameter>& known, std::span<const std::string> words) {
  std::vector<std::string_view> names;
  for (const Parameter& one : known) {
    usual_.emplace(one.name, one.usual);
    names.emplace_back(one.name);
  }
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!usual_.contains(name)) throw UsageError(no_such("parameter", name, names));
    if (equals == std::string::npos) throw UsageError(name + " takes a value: " + name + "=...");
    if (!given_.emplace(name, word.substr(equals + 1)).second) throw UsageError(name + " is there twice");
  }
}

Values Parameters::operator[](const std::string& name) const {
  return {name, is_given(name) ? given_.at(name) : usual_.at(name)};
}

}  // namespace results
