// The thread that runs a node's events while its program computes (am::Dispatch::thread).
//
// It looks at the places where news shows (Lookout) without being in the node, and enters it when there is some. When
// nothing comes for a while it sleeps on the node's bell; then whoever leaves the node sees to it that the bell is rung:
//
//   awake    it looks. The node's thread may come and go, and leave rings that it has looked at watched.
//   asleep   the node is armed (Alarm::thread), or the node's thread is inside and arms it when it leaves
//
// While the node's thread stays inside for long (it waits, and polls), this one sleeps, too: it asks for attention first, so
// that the node's thread arms the node when it leaves (Attendant::attend).
//
// M-Machine thesis, chapter 6: handlers in a hardware thread slot of their own. A processor of their own is the nearest
// thing that today's machines have; without one it never spins, and asks the system for short turns: whoever asks for less
// at a time gets it sooner.
#pragma once

#include <am/impl/event_lock.hpp>
#include <atomic>
#include <cstdint>

#include "core/modes/thread_place.hpp"
#include "core/node/own_thread.hpp"
#include "transports/lookout.hpp"

namespace am::core {

class Attendant;

class HandlerThread {
 public:
  /// Starts it, awake. Throws am::Error when the system gives no thread.
  HandlerThread(Attendant& attendant, impl::EventLock& lock, ThreadPlace place);
  /// Ends it, when the event that runs has ended. Not while the calling thread is in the node.
  ~HandlerThread();
  HandlerThread(const HandlerThread&) = delete;
  HandlerThread& operator=(const HandlerThread&) = delete;

  // For the node's thread; in the node, but for wake.

  /// It is awake, and shall look although nothing has come: what may run has changed.
  void look_again() noexcept { look_.store(true, std::memory_order_release); }
  /// Wakes it up to look. Not in the node, where it would find it taken.
  void wake() noexcept;
  /// Whether it has gone to sleep because the node's thread was in the node, since this was last asked.
  [[nodiscard]] bool went_to_sleep() noexcept { return asked_.exchange(false, std::memory_order_acquire); }

 private:
  void run() noexcept;
  void move_to_its_place() const noexcept;
  [[nodiscard]] bool news() const noexcept;
  void serve() noexcept;
  void wait_for_the_thread() noexcept;
  void rest() noexcept;
  void sleep(std::uint32_t bell, std::uint64_t until) noexcept;
  [[nodiscard]] std::uint32_t bell() const noexcept;

  Attendant& attendant_;
  impl::EventLock& lock_;
  const ThreadPlace place_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> look_{true};
  std::atomic<bool> asked_{false};

  // Its own.
  Lookout lookout_;
  std::uint64_t next_look_ = 0;  // a Count: look then, whatever comes
  std::uint32_t idle_ = 0;       // rounds without news
  std::uint32_t blocked_ = 0;    // rounds in which the node's thread was in the node

  OwnThread thread_;  // last: it uses all of the above, and ends before they do
};

}  // namespace am::core
