#include "amrun/say.hpp"

#include <poll.h>
#include <unistd.h>

#include <string_view>

namespace amrun {

namespace {
std::string beginning = "amrun: ";  // main thread only
}

void begin_lines_with(const std::string& about) { beginning = "amrun: " + about; }

std::string whole_line(const std::string& text) { return beginning + text + "\n"; }

void say_directly(const std::string& text) {
  constexpr std::size_t piece = 4096;  // what a pipe takes at once, when it says that it takes something
  constexpr int patience_ms = 200;
  const std::string whole = whole_line(text);
  for (std::string_view left = whole; !left.empty();) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (poll(&ready, 1, patience_ms) <= 0) return;
    const std::size_t end = left.size() <= piece ? std::string_view::npos : left.rfind('\n', piece - 1);
    const std::string_view next = left.substr(0, end == std::string_view::npos ? piece : end + 1);
    const ssize_t written = write(STDERR_FILENO, next.data(), next.size());
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace amrun
