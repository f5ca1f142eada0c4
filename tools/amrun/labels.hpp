// Lines of output with the number of their node in front: text in, text out. No process, no descriptor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amrun {

// Cuts what one node writes into lines. Not thread-safe; one for each stream of each node.
class Labels {
 public:
  // What a node keeps in memory at most; a longer line is cut there and goes on in a line of its own.
  static constexpr std::size_t longest_line_bytes = std::size_t{256} << 10;

  explicit Labels(std::string label, std::size_t longest_line = longest_line_bytes)
      : label_(std::move(label)), longest_line_(longest_line) {}

  // Appends to `lines` what `text` completes; keeps the rest.
  void feed(std::string_view text, std::string& lines);
  // The end of the stream: a last line without an end gets one.
  void finish(std::string& lines);

 private:
  void put_line(std::string_view rest, std::string& lines);

  std::string label_;
  std::size_t longest_line_;
  std::string begun_;  // of the current line
};

}  // namespace amrun
