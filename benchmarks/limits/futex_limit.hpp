// What this machine needs from a store and FUTEX_WAKE in one process until another, which slept on that word, goes on:
// the limit of a node that is woken from sleep.
//
// For the nodes of a job, between their own wakes: how fast a processor comes back depends on how it, and the host under a
// virtual machine, have idled in the last milliseconds. A limit from another second differs by half.

#pragma once

#include <cstdint>

namespace ambench {

class FutexPair {
 public:
  // Both throw std::runtime_error.
  FutexPair();                            // the waker makes it
  FutexPair(int process, int the_other);  // the sleeper opens it: the waker's process and its file()
  FutexPair(const FutexPair&) = delete;
  FutexPair& operator=(const FutexPair&) = delete;
  ~FutexPair();

  [[nodiscard]] int file() const { return file_; }

  // From before the store until the sleeper goes on, in ticks.
  std::uint64_t wake();

  // Is woken so often. Before each sleep it spins for as long as a waiting node does, so that it has slept as long as one.
  // `timed`: it sleeps with a time limit that does not pass, as a waiting node does.
  void be_woken(int times, bool timed);

 private:
  struct Shared;

  void map();

  int file_;
  Shared* shared_ = nullptr;
};

}  // namespace ambench
