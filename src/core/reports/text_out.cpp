#include "core/reports/text_out.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace am::core {

TextOut& TextOut::operator<<(std::string_view text) {
  while (!text.empty()) {
    if (used_ == capacity) make_room();
    const std::size_t part = std::min(text.size(), capacity - used_);
    std::memcpy(buffer_.data() + used_, text.data(), part);
    if (const std::size_t end = text.substr(0, part).rfind('\n'); end != std::string_view::npos)
      lines_end_ = used_ + end + 1;
    used_ += part;
    text.remove_prefix(part);
  }
  return *this;
}

void TextOut::make_room() {
  const std::size_t whole = lines_end_ != 0 ? lines_end_ : used_;
  write_({buffer_.data(), whole});
  used_ -= whole;
  lines_end_ = 0;
  std::memmove(buffer_.data(), buffer_.data() + whole, used_);
}

void TextOut::flush() {
  if (used_ != 0) write_({buffer_.data(), used_});
  used_ = lines_end_ = 0;
}

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string text_of(const std::function<void(TextOut&)>& describe) {
  std::string all;
  TextOut out([&](std::string_view text) { all += text; });
  describe(out);
  out.flush();
  return all;
}

}  // namespace am::core
