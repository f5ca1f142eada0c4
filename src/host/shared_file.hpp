// The file behind a job's memory: sparse, without a name, gone with its last user.
//
// Two things about a file that memory is mapped from are not as with memory, and are dealt with here. Where its file system has
// no room, a first touch does not fail but ends the process by a signal: so pages are asked for in advance. And a program
// may close descriptors that it does not know, as daemons do (closefrom): then the number is another file's before long.
// What is mapped by then stays.
//
// Thread-safe but for its making and its end.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace am::host {

class SharedFile {
 public:
  /// A new one of so many bytes, on paper. Throws am::Error.
  static SharedFile create(std::uint64_t bytes);
  /// The one behind a descriptor, which it owns from here on.
  explicit SharedFile(int fd) noexcept;
  ~SharedFile();
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Whether the descriptor still is this file's.
  [[nodiscard]] bool is_open() const noexcept;
  /// Makes sure that these bytes have pages. False when there is no memory for them; true also where nobody can tell in
  /// advance.
  [[nodiscard]] bool commit(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// Whether its file system has room for so much and no more: a /dev/shm with a size, a disk. (A memfd has all the memory that
  /// there is.)
  [[nodiscard]] bool has_bounds() const noexcept;

  /// What to do when there is no memory, for messages.
  static constexpr const char* more_room =
      "give it more: a larger /dev/shm (docker run --shm-size=1g; mount -o remount,size=1g /dev/shm), "
      "a sandbox that allows memfd_create, or a higher memory limit";

 private:
  int fd_;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace am::host
