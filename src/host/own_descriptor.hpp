// Descriptors 0 to 2 are the program's standard streams, also while they are closed: whoever opens a file then gets one of
// these numbers, and what the program prints goes into that file. So nothing that libam keeps open has one of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

namespace am::host {

/// The same file under a number above 2, close-on-exec where it had to move; `fd` is given up then. -1, with errno, where `fd`
/// is, or where there is no such number. Around every call that makes a descriptor that is kept.
[[nodiscard]] inline int own_descriptor(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

/// /dev/null in the place of those of the three that are closed, while one lives: for libraries that open what they like.
class StandardPlaces {
 public:
  StandardPlaces() noexcept {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) continue;
      taken_[fd] = open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) == fd;  // the lowest free one
    }
  }
  ~StandardPlaces() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
      if (taken_[fd]) close(fd);
    }
  }
  StandardPlaces(const StandardPlaces&) = delete;
  StandardPlaces& operator=(const StandardPlaces&) = delete;

 private:
  bool taken_[3] = {};
};

}  // namespace am::host
