#include "host/life_lock.hpp"

#include <linux/futex.h>
#include <cerrno>

namespace am::host {

static_assert(sizeof(LifeLock) == 64);

void LifeLock::make() noexcept {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  works_ = pthread_mutex_init(&mutex_, &kind) == 0;
  pthread_mutexattr_destroy(&kind);
}

bool LifeLock::take() noexcept {
  if (!works_) return !taken_.exchange(true, std::memory_order_acq_rel);
  const int result = pthread_mutex_trylock(&mutex_);
  if (result == EOWNERDEAD) pthread_mutex_unlock(&mutex_);  // not made consistent: nobody gets it any more
  return result == 0;
}

void LifeLock::give_back() noexcept {
  if (!works_) return taken_.store(false, std::memory_order_release);
  pthread_mutex_unlock(&mutex_);
}

bool LifeLock::is_held() const noexcept {
  if (!works_) return taken_.load(std::memory_order_acquire);
  // Acquire pairs with the kernel's or the C library's release: what the holder wrote last is seen.
  const int word = __atomic_load_n(&mutex_.__data.__lock, __ATOMIC_ACQUIRE);
  return (static_cast<unsigned>(word) & FUTEX_TID_MASK) != 0;
}

}  // namespace am::host
