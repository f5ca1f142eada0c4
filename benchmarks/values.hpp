// The values of a parameter of a measure, NAME=VALUE,VALUE...: what all measures of simulated networks read theirs with.

#pragma once

#include <charconv>
#include <string>
#include <system_error>
#include <vector>

#include "options.hpp"

namespace ambench {

class Values {
 public:
  // `otherwise` where it is not given.
  Values(const Options& options, std::string name, const std::string& otherwise)
      : name_(std::move(name)),
        text_(options.parameters.contains(name_) ? options.parameters.at(name_) : otherwise) {}

  [[nodiscard]] std::vector<std::string> words() const;
  // Throws UsageError.
  template <class Number>
  [[nodiscard]] std::vector<Number> numbers() const {
    std::vector<Number> all;
    for (const std::string& word : words()) {
      Number number{};
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size())
        throw UsageError(name_ + " takes numbers that are no less than 0, not '" + word + "'");
      all.push_back(number);
    }
    return all;
  }
  template <class Number>
  [[nodiscard]] Number number() const {
    const std::vector<Number> all = numbers<Number>();
    if (all.size() != 1) throw UsageError(name_ + " takes one value");
    return all.front();
  }
  // Of `yes` and `no`.
  [[nodiscard]] std::vector<bool> answers() const;

 private:
  std::string name_;
  std::string text_;
};

}  // namespace ambench
