// The signals of amrun: blocked while a job runs and taken one at a time where the supervisor waits, so that
// no handler is ever needed. Knows what the nodes shall find instead: what amrun itself was started with.
//
// Made before any thread and any node; main thread only.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>

namespace amrun {

class Signals {
 public:
  // Blocks SIGCHLD and every signal that is passed on, but those that amrun was told to ignore (nohup).
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The next signal. Nothing after `timeout_ns`, if there is one.
  [[nodiscard]] std::optional<siginfo_t> wait(std::optional<std::uint64_t> timeout_ns) const;

  // The same as a descriptor for poll; what it has is what wait(0) gives. Throws Fault.
  [[nodiscard]] int open_descriptor() const;

  // From another thread: makes wait() return a signal with this number, which nobody else sends.
  void notify() const noexcept;
  static int notice() noexcept { return SIGRTMIN; }

  // When no node is left: what usually ends a program now ends amrun, but what had come before is forgotten.
  void let_end_amrun() const;

  // For a node, between clone and exec: system calls only.
  void restore_in_node() const noexcept;

 private:
  sigset_t awaited_;
  sigset_t original_mask_;
  struct sigaction original_pipe_;
};

}  // namespace amrun
