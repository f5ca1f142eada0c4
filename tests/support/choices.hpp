// Every way in which something may go, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace test {

/// The choices of one run: in the runs to come all of them, one combination after the other.
class Choices {
 public:
  Choices() = default;
  explicit Choices(const std::string& made) {
    for (const char c : made) made_.push_back({static_cast<unsigned char>(c), 255});
  }
  /// 0 .. n-1.
  unsigned pick(unsigned n) {
    if (n <= 1) return 0;
    if (at_ == made_.size()) made_.push_back({0, n});
    return made_[at_++].value;
  }
  /// False when all combinations have been had. Of the last `rest` choices no others are tried.
  bool next(std::size_t rest = 0) {
    at_ = 0;
    made_.resize(made_.size() - std::min(rest, made_.size()));
    while (!made_.empty() && made_.back().value + 1 == made_.back().limit) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().value;
    return true;
  }
  [[nodiscard]] std::string str() const {
    std::string text;
    for (const One& one : made_) text += static_cast<char>(one.value);
    return text;
  }

 private:
  struct One {
    unsigned value;
    unsigned limit;
  };
  std::vector<One> made_;
  std::size_t at_ = 0;
};

}  // namespace test
