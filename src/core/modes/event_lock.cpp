#include <am/impl/event_lock.hpp>

#include <sched.h>
#include <time.h>

#include "host/heavy_fence.hpp"
#include "host/relax.hpp"

namespace am::impl {

namespace {

/// Waits longer and longer: events are short, but the processor may have been taken from them, and a handler that waits to
/// reply may take its time.
class Pauses {
 public:
  void next() noexcept {
    ++rounds_;
    if (rounds_ <= spins) {
      host::relax();
    } else if (rounds_ <= yields) {
      sched_yield();
    } else {
      constexpr timespec nap{0, 100'000};
      nanosleep(&nap, nullptr);
    }
  }

 private:
  static constexpr std::uint32_t spins = 200;
  static constexpr std::uint32_t yields = 1000;
  std::uint32_t rounds_ = 0;
};

}  // namespace

void EventLock::enter_slowly() noexcept {
  inside_.exchange(1, std::memory_order_seq_cst);  // the fence of L1
  std::uint32_t word = word_.load(std::memory_order_seq_cst);
  if ((word & events_inside) != 0) {
    visits_ = 0;
    // They see us and come out, or are through soon. We stay: they have had their turn.
    for (Pauses pauses; (word_.load(std::memory_order_acquire) & events_inside) != 0;) pauses.next();  // R2
    return;
  }
  if (++visits_ < bias_after || !host::heavy_fence_works()) return;
  visits_ = 0;
  word &= attention;  // L2: expects no events
  std::uint32_t expected = word | unbiased;
  word_.compare_exchange_strong(expected, word, std::memory_order_seq_cst);
}

bool EventLock::try_enter_events() noexcept {
  if (thread_is_inside()) return false;
  const std::uint32_t before = word_.fetch_or(events_inside | unbiased, std::memory_order_seq_cst);
  if ((before & unbiased) == 0) host::process_fence();
  if (inside_.load(std::memory_order_seq_cst) == 0) return true;  // acquire: R1
  word_.fetch_and(~events_inside, std::memory_order_release);
  return false;
}

bool EventLock::ask_for_attention() noexcept {
  word_.fetch_or(attention, std::memory_order_seq_cst);
  host::process_fence();  // the thread leaves by a store and a load, without a fence in between
  return inside_.load(std::memory_order_acquire) != 0;
}

}  // namespace am::impl
