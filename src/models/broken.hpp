// How a model ends a node whose program broke a rule of the old interface: one line `am: node 3: <parts>`, then abort. Takes no
// memory and no lock: also in an interrupt.
#pragma once

#include <unistd.h>
#include <am/types.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace am::models {

/// One line of text for standard error; what is longer than it has room for is cut off.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), text_.size() - 1 - used_);
    std::memcpy(text_.data() + used_, text.data(), bytes);
    used_ += bytes;
    return *this;
  }
  template <std::integral Number>
  Line& operator<<(Number number) noexcept {
    char digits[24];
    return *this << std::string_view(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  /// Written at one stretch, so that the lines of several nodes do not mix.
  void say() noexcept {
    text_[used_++] = '\n';
    if (write(STDERR_FILENO, text_.data(), used_) < 0) return;  // nobody is left to tell it to
  }

 private:
  std::array<char, 1024> text_{};
  std::size_t used_ = 0;
};

/// What stands behind a number of bytes.
template <std::integral Number>
constexpr std::string_view bytes_of(Number number) noexcept {
  return number == 1 ? " byte" : " bytes";
}

template <class... T>
void say(NodeId node, const T&... parts) noexcept {
  Line line;
  line << "am: node " << node << ": ";
  (line << ... << parts);
  line.say();
}

template <class... T>
[[noreturn]] void broken(NodeId node, const T&... parts) noexcept {
  say(node, parts...);
  std::abort();
}

}  // namespace am::models
