// Text that is written in pieces of whole lines, out of a buffer of its own: for threads that must not wait for what a
// stuck node may hold, as malloc's and stdio's locks.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/counted.hpp"

namespace am::core {

class TextOut {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `write` gets some whole lines at a time, at most `capacity` bytes; a longer line comes in parts.
  explicit TextOut(Write write) : write_(std::move(write)) {}
  ~TextOut() { flush(); }
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;

  TextOut& operator<<(std::string_view text);
  template <std::integral Number>
  TextOut& operator<<(Number number) {
    char digits[24];
    return *this << std::string_view(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  TextOut& operator<<(const host::Counted& some) {
    return *this << some.number << " " << some.noun << some.ending();
  }

  void flush();

  static constexpr std::size_t capacity = 4096;  // what a pipe takes in one piece

 private:
  void make_room();

  Write write_;
  std::array<char, capacity> buffer_;
  std::size_t used_ = 0;
  std::size_t lines_end_ = 0;  // behind the last line end in the buffer
};

/// Straight to standard error, past stdio.
void write_to_stderr(std::string_view text);

/// What `describe` says, for whom memory is no matter.
[[nodiscard]] std::string text_of(const std::function<void(TextOut&)>& describe);

}  // namespace am::core
