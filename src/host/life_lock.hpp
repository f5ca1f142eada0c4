// A lock that a thread holds as long as it lives: the kernel lets go of it when the thread ends, however it ends. Others see by one
// load whether it is there. They need no process id, which means another process in another PID namespace, and some
// time after the end also here; and nobody needs a descriptor, which the program may close (closefrom).
//
// A robust mutex between processes that nobody waits for: there is nothing to guard. One word of it is looked at, whose
// meaning the kernel lays down (Documentation/locking/robust-futex-ABI.rst): who holds it, or nobody.
#pragma once

#include <pthread.h>
#include <atomic>

namespace am::host {

/// Lies on the board. What the C library keeps there besides that word concerns the process of the holder only.
class alignas(64) LifeLock {
 public:
  /// By who makes the board.
  void make() noexcept;
  /// For the calling thread. False when another one holds it, or has died with it.
  [[nodiscard]] bool take() noexcept;
  /// By the thread that holds it; by any other it does nothing.
  void give_back() noexcept;
  /// Where the system has no such locks every one counts as held once it was taken.
  [[nodiscard]] bool is_held() const noexcept;

 private:
  pthread_mutex_t mutex_;
  bool works_;               // this system has such locks
  std::atomic<bool> taken_;  // where it has none
};

/// Gives a lock back that the thread has taken. On that thread.
class Life {
 public:
  explicit Life(LifeLock& taken) noexcept : lock_(taken) {}
  ~Life() { lock_.give_back(); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

 private:
  LifeLock& lock_;
};

}  // namespace am::host
