// The system calls that waiting nodes need, and a line about those that libam does without.
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "aminfo/doctor.hpp"

namespace aminfo {
namespace {

// A node sleeps on a futex in shared memory. Asking to sleep on a value that has already changed must return
// at once.
Finding check_futex() {
  constexpr const char* subject = "futex";
  constexpr std::size_t bytes = sizeof(std::atomic<std::uint32_t>);
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return {Level::fail, subject, std::string("mmap: ") + std::strerror(errno), "ulimit -v unlimited"};
  auto* const word = new (page) std::atomic<std::uint32_t>(1);
  const long woken = syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  const int wake_error = woken < 0 ? errno : 0;
  const long slept = syscall(SYS_futex, word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  const int wait_error = slept < 0 ? errno : 0;
  munmap(page, bytes);
  if (wake_error == 0 && wait_error == EAGAIN) return {Level::ok, subject, "works between processes", ""};
  const int error = wake_error != 0 ? wake_error : wait_error;
  return {Level::fail, subject, std::string("cannot be used in shared memory: ") + std::strerror(error),
          "allow the system call futex in the sandbox or container"};
}

// Lets a sender find out whether the receiver sleeps without a fence of its own; the sleeper pays instead.
// Without it sleeps are kept short.
Finding check_membarrier() {
  constexpr const char* subject = "membarrier";
  constexpr int wanted = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  constexpr const char* mend =
      "a kernel of 4.16 or newer, and a sandbox or container that allows the system call membarrier";
  const std::string effect = "; nodes do without: they wake up a thousand times a second while they wait";
  const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (offered < 0) return {Level::warn, subject, std::strerror(errno) + effect, mend};
  if ((offered & wanted) != wanted) {
    return {Level::warn, subject, "not offered between processes (global expedited)" + effect, mend};
  }
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0 ||
      syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
    return {Level::warn, subject, std::strerror(errno) + effect, mend};
  }
  return {Level::ok, subject, "works between processes (global expedited)", ""};
}

// Where amrun finds what nodes have left behind.
Finding check_proc() {
  constexpr const char* subject = "/proc";
  if (access(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), R_OK) == 0)
    return {Level::ok, subject, "lists the children of a process", ""};
  return {Level::warn, subject,
          "does not list the children of a process: what nodes start and leave behind outlives the job",
          "mount /proc in the container; a kernel with CONFIG_PROC_CHILDREN"};
}

}  // namespace

std::vector<Finding> check_kernel() {
  return {check_futex(),
          check_membarrier(),
          check_proc(),
          {Level::ok, "not used",
           "/dev/shm (its size does not matter), ptrace rights, huge pages, locked memory", ""}};
}

}  // namespace aminfo
