// NAME=VALUE,VALUE...: what a machine or a network is simulated with, and what each is where it is not given.

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/values.hpp"

namespace results {

struct Parameter {
  const char* name;
  const char* usual;    // its value where it is not given
  const char* meaning;  // one line
};

class Parameters {
 public:
  Parameters() = default;  // of what has none
  // Throws UsageError where a word is no NAME=VALUE, or is not known, or is there twice.
  Parameters(const std::vector<Parameter>& known, std::span<const std::string> words);

  [[nodiscard]] bool is_given(const std::string& name) const { return given_.contains(name); }
  // Of one that is known.
  [[nodiscard]] Values operator[](const std::string& name) const;

 private:
  std::map<std::string, std::string> usual_;
  std::map<std::string, std::string> given_;
};

}  // namespace results
