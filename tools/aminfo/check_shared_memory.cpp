// Does with the library's own code what a job on this machine does first: create the job's memory, map a
// node's memory in it twice, write through one mapping and read through the other.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <am/error.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "aminfo/doctor.hpp"
#include "core/settings/setting_value.hpp"
#include "host/memory.hpp"

namespace aminfo {
namespace {

constexpr const char* subject = "shared memory";

// 0, or the error that memfd_create gives.
int memfd_error() {
  const int fd = memfd_create("aminfo", MFD_CLOEXEC);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

std::string memfd_mend(int error) {
  switch (error) {
    case ENOSYS:
      return "a kernel of 3.17 or newer, or a sandbox that allows memfd_create";
    case EACCES:
      return "sysctl vm.memfd_noexec=1";
    case EMFILE:
    case ENFILE:
      return "ulimit -n 1024";
    default:
      return "allow memfd_create in the container, for example docker run --security-opt seccomp=unconfined";
  }
}

// A job of one node that publishes a segment of the size that is set.
bool mappings_agree() {
  const std::size_t bytes = segment_bytes();
  const std::shared_ptr<am::host::Memory> one = am::host::Memory::create(1);
  const am::host::Board& board = one->board();
  board.card(0).segment_bytes = bytes;
  if (!board.life(0).take()) return false;
  const am::host::Life life(board.life(0));
  const std::shared_ptr<am::host::Memory> other =
      am::host::Memory::open(fcntl(one->fd(), F_DUPFD_CLOEXEC, 0));
  volatile std::byte* const written = one->map_user(0).data();
  const volatile std::byte* const read = other->map_user(0).data();
  written[0] = std::byte{1};
  written[bytes - 1] = std::byte{2};
  return read[0] == std::byte{1} && read[bytes - 1] == std::byte{2} && other->board().is_alive(0);
}

}  // namespace

Finding check_shared_memory() {
  // Above this limit the kernel does not answer with an error but with a signal that ends the process.
  rlimit files{};
  if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < am::host::Layout(job_nodes).file_bytes()) {
    return {Level::fail, subject,
            "the limit on the size of files (RLIMIT_FSIZE) is below that of a job, which is large on paper "
            "and takes no "
            "disk",
            "ulimit -f unlimited"};
  }
  const int error = memfd_error();
  try {
    if (!mappings_agree()) {
      return {Level::fail, subject, "what is written through one mapping is not seen through another one",
              "a sandbox with coherent shared mappings"};
    }
    am::host::Memory::create(job_nodes);
  } catch (const am::Error& failure) {
    return {Level::fail, subject, failure.what_failed() + ": " + failure.why(),
            error != 0 ? memfd_mend(error) : failure.remedy()};
  }
  if (error != 0) {
    return {Level::warn, subject,
            std::string("memfd_create: ") + std::strerror(error) +
                "; a file without a name is used, in /dev/shm or /tmp",
            memfd_mend(error)};
  }
  return {Level::ok, subject,
          "a segment of " + am::core::format_size(segment_bytes()) + " created, mapped, written and read",
          ""};
}

}  // namespace aminfo
