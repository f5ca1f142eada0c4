#include "host/heavy_fence.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace am::host {

namespace {

bool registered(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/// Locks rely on it.
[[noreturn]] void end_without_fences() noexcept {
  constexpr std::string_view text =
      "am: membarrier is refused, which was granted when the process began: a system call filter has to let "
      "it pass\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

/// Of a process that is registered. The kernel may lack the memory for a moment.
void pass(int command) noexcept {
  while (syscall(SYS_membarrier, command, 0, 0) != 0) {
    if (errno != ENOMEM) end_without_fences();
    sched_yield();
  }
}

}  // namespace

bool heavy_fence_works() noexcept {
  static const bool works = registered(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                            registered(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  return works;
}

void process_fence() noexcept {
  if (!heavy_fence_works()) return own_fence();
  pass(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void heavy_fence() noexcept {
  if (!heavy_fence_works()) return own_fence();
  pass(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  pass(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void own_fence() noexcept {
#if defined(__SANITIZE_THREAD__)  // which does not know fences
  static std::atomic<int> own{0};
  own.exchange(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace am::host
