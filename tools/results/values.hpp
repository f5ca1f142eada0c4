// The values of a parameter, VALUE,VALUE... as they were typed.

#pragma once

#include <charconv>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "results/usage_error.hpp"

namespace results {

class Values {
 public:
  // `name` is the parameter's, for messages.
  Values(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

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
    return only(numbers<Number>());
  }
  // Of `yes` and `no`.
  [[nodiscard]] std::vector<bool> answers() const;
  [[nodiscard]] bool answer() const { return only(answers()); }
  [[nodiscard]] std::string word() const { return only(words()); }

 private:
  template <class Value>
  [[nodiscard]] Value only(const std::vector<Value>& all) const {
    if (all.size() != 1) throw UsageError(name_ + " takes one value");
    return all.front();
  }

  std::string name_;
  std::string text_;
};

}  // namespace results
