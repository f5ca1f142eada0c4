#include "host/heavy_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>

namespace am::host {

bool heavy_fence_works() noexcept {
  static const bool works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return works;
}

void heavy_fence() noexcept {
  if (heavy_fence_works()) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);  // for this thread a full fence, too
    return;
  }
  own_fence();
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
