// Looks whether amrun still lives, and ends the node when it does not, whatever the node does.
//
// For a node that amrun's end does not end otherwise. The kernel ends amrun's children with it, and the children of those
// (job/amrun.cpp); who lies further down is not told. A thread of its own, for a program that computes calls nobody; it sleeps,
// and looks twice a second, by one load.
#pragma once

#include <semaphore.h>
#include <am/types.hpp>
#include <atomic>

#include "core/node/own_thread.hpp"
#include "host/board.hpp"

namespace am::core {

class LauncherWatch {
 public:
  /// Throws am::Error when the system gives no thread.
  LauncherWatch(const host::Board& board, NodeId node);
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  void run() noexcept;

  const host::Board& board_;
  const NodeId node_;
  struct Semaphore {
    Semaphore() noexcept { sem_init(&semaphore, 0, 0); }
    sem_t semaphore;
  };
  std::atomic<bool> stop_{false};
  Semaphore wake_;
  OwnThread thread_;  // last: it uses all of the above
};

/// Ends this process because amrun has ended. One node of the job says so.
[[noreturn]] void end_with_launcher(const host::Board& board, NodeId node) noexcept;

}  // namespace am::core
