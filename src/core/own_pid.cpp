#include "core/own_pid.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace am::core {

namespace {
std::atomic<pid_t> known{0};
void learn() noexcept { known.store(getpid(), std::memory_order_relaxed); }
}  // namespace

pid_t own_pid() noexcept {
  static const bool kept_up_to_date = [] {
    learn();
    return pthread_atfork(nullptr, nullptr, &learn) == 0;
  }();
  return kept_up_to_date ? known.load(std::memory_order_relaxed) : getpid();
}

}  // namespace am::core
