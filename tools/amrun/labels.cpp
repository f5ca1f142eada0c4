#include "amrun/labels.hpp"

#include <algorithm>

namespace amrun {

void Labels::feed(std::string_view text, std::string& lines) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t room = longest_line_ - begun_.size();
    const std::size_t length = std::min({end, room, text.size()});
    if (length == end || length == room) {
      put_line(text.substr(0, length), lines);
    } else {
      begun_ += text;
    }
    text.remove_prefix(length == end ? length + 1 : length);
  }
}

void Labels::finish(std::string& lines) {
  if (!begun_.empty()) put_line({}, lines);
}

void Labels::put_line(std::string_view rest, std::string& lines) {
  lines.append(label_).append(begun_).append(rest).append(1, '\n');
  begun_.clear();
}

}  // namespace amrun
