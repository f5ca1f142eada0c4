// Injection through the memory: a program secures the interface by a semaphore, makes addresses, and stores each word; a store is at
// the interface after a traversal of the memory hierarchy. One program has it for a message: the next is begun when it is free again.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.1, 6.5.1, 6.5.2.
#pragma once

#include "emulated_hw/mmachine/costs/injection.hpp"

namespace am::mmachine::costs {

/// A lock in local memory: its address, what it holds, the test, the branch, and the mark that it is taken.
class Semaphore {
 public:
  /// `free`: since when nothing else keeps the caller out.
  void acquire(Cluster& cluster, Register free) noexcept;
  void release(Cluster& cluster) noexcept;

 private:
  Register written_{};
};

/// IMS: the header is stored and the interface answers that the channel is open ("the fixed overhead for opening a streaming channel",
/// 6.5.2), while words are made; then HandlerIP and the words go to one address, each on its way as it arrives.
class MemoryStreamInjection final : public Injection {
 public:
  using Injection::Injection;
  Arrival send(Cluster& cluster, const Letter& letter) override;

 private:
  [[nodiscard]] Register open(Cluster& cluster, Register node) noexcept;

  Semaphore semaphore_;
  Register closed_{};
};

/// IMB: words are stored into a buffer, and a last store has the interface fetch it, which keeps a sent message's words there; the head
/// leaves when all have been fetched.
class MemoryBufferInjection final : public Injection {
 public:
  using Injection::Injection;
  Arrival send(Cluster& cluster, const Letter& letter) override;

 private:
  Semaphore semaphore_;
  Register fetched_{};
};

}  // namespace am::mmachine::costs
