#include "host/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "host/own_descriptor.hpp"
#include "host/system_error.hpp"

namespace am::host {

namespace {

/// A file beyond the limit would end the process by a signal, not by an error.
void check_file_size_limit(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return;
  throw Error("size the job's shared memory",
              "this process may not create a file of " + std::to_string(bytes >> 40) +
                  " TiB (a sparse one: no disk is used)",
              "raise the file size limit: ulimit -f unlimited");
}

/// memfd, or an unlinked file where a sandbox forbids memfd.
int anonymous_file() {
  int fd = memfd_create("libam", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  fd = own_descriptor(fd);
  if (fd < 0) throw system_error("create shared memory", "run `aminfo --doctor`");
  return fd;
}

}  // namespace

SharedFile SharedFile::create(std::uint64_t bytes) {
  check_file_size_limit(bytes);
  SharedFile file(anonymous_file());
  if (ftruncate(file.fd(), static_cast<off_t>(bytes)) != 0) {
    throw system_error(
        "size the job's shared memory",
        "allow memfd_create, which this sandbox forbids: no other file system holds a sparse file of " +
            std::to_string(bytes >> 40) + " TiB");
  }
  // Whoever else has it shall not end all by a shorter one. Files that are no memfd have no seals.
  fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return file;
}

SharedFile::SharedFile(int fd) noexcept : fd_(fd) {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return;
  device_ = info.st_dev;
  number_ = info.st_ino;
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), device_(other.device_), number_(other.number_) {}

SharedFile::~SharedFile() {
  if (is_open()) close(fd_);
}

bool SharedFile::is_open() const noexcept {
  struct stat info {};
  return fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == number_;
}

bool SharedFile::commit(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  // A call that a signal breaks off gives back what it had: in pieces each of which is soon done.
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  if (!is_open()) return true;
  for (const std::uint64_t end = offset + bytes; offset < end; offset += piece) {
    int result = 0;
    do {
      result = fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                         static_cast<off_t>(std::min(piece, end - offset)));
    } while (result != 0 && errno == EINTR);
    if (result != 0) return errno != ENOSPC && errno != ENOMEM && errno != EDQUOT;
  }
  return true;
}

bool SharedFile::has_bounds() const noexcept {
  struct statvfs room {};
  return is_open() && fstatvfs(fd_, &room) == 0 && room.f_blocks != 0;
}

}  // namespace am::host
