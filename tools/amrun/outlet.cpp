#include "amrun/outlet.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace amrun {

using am::host::Descriptor;

namespace {

// What never waits in write, also where others have the same file: a pipe or terminal is opened once more for that. (Not a file: it
// would be written from its beginning; and it does not wait.)
Descriptor without_waiting(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0 || (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return Descriptor(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

Outlet::Outlet(int fd) : own_(without_waiting(fd)), fd_(own_ ? own_.get() : fd) {}

// Where it cannot be opened anew, little is written at once.
ssize_t Outlet::write_some(std::string_view text) const {
  constexpr std::size_t little = 512;
  struct stat about {};
  const bool is_socket = fstat(fd_, &about) == 0 && S_ISSOCK(about.st_mode);
  if (is_socket) return ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return ::write(fd_, text.data(),
                 own_ || S_ISREG(about.st_mode) ? text.size() : std::min(text.size(), little));
}

}  // namespace amrun
