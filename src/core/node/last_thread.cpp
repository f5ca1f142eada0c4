#include "core/node/last_thread.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>

#include "core/node/own_thread.hpp"

namespace am::core {

namespace {

/// Threads of this process that the program has, beside the calling one; 1 where the system does not say. Needs no descriptor, of
/// which there may be none left.
long others_of_the_program() noexcept {
  struct stat tasks {};
  if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return 1;
  return static_cast<long>(tasks.st_nlink) - 2 - 1 - OwnThread::in_this_process();
}

/// The program's other threads may go on for as long as they like. Nobody tells of their ends, so this looks; and a signal that is
/// to end the process finds it, as libam's threads take none. `first`: the process's first thread has ended, which counts until the end.
template <bool first>
void* end_behind_the_others(void* /*nothing*/) {
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 50'000'000};
  while (others_of_the_program() > (first ? 1 : 0)) nanosleep(&moment, nullptr);
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): there is no other
}

std::atomic<bool> has_ended = false;

void thread_ends(void* /*its value*/) {
  has_ended.store(true, std::memory_order_release);  // pairs with node_thread_has_ended
  if (others_of_the_program() <= 0) std::exit(0);    // NOLINT(concurrency-mt-unsafe): as the C library does
  pthread_t thread{};
  const auto main = gettid() == getpid() ? &end_behind_the_others<true> : &end_behind_the_others<false>;
  if (pthread_create(&thread, nullptr, main, nullptr) == 0) pthread_detach(thread);
}

}  // namespace

void end_with_the_programs_threads() noexcept {
  static pthread_key_t key;
  // A key's function is called when a thread ends, and not at exit.
  if (pthread_key_create(&key, &thread_ends) == 0) pthread_setspecific(key, &key);
}

bool node_thread_has_ended() noexcept { return has_ended.load(std::memory_order_acquire); }

}  // namespace am::core
