#include "host/bell.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include "host/clock.hpp"
#include "host/heavy_fence.hpp"

namespace am::host {

void Bell::sleep(std::uint64_t until_ns) noexcept {
  const std::uint64_t now = monotonic_ns();
  std::uint64_t longest_ns = until_ns > now ? until_ns - now : 0;
  constexpr std::uint64_t short_nap_ns = 1'000'000;
  if (!heavy_fence_works()) longest_ns = std::min(longest_ns, short_nap_ns);
  if (longest_ns == 0) return;
  const timespec timeout = timespec_of(longest_ns);
  syscall(SYS_futex, &card_.alarm, FUTEX_WAIT, word(Alarm::sleeper), &timeout, nullptr, 0);
}

void wake(const Board& board, NodeId node) noexcept {
  constexpr auto none = static_cast<std::uint32_t>(Alarm::none);
  NodeCard& told = board.card(node);
  // Those who set an alarm pair with this by a fence (see the head): relaxed is enough here.
  if (told.alarm.load(std::memory_order_relaxed) == none) return;
  switch (static_cast<Alarm>(told.alarm.exchange(none, std::memory_order_seq_cst))) {
    case Alarm::none:
      break;
    case Alarm::sleeper:
      syscall(SYS_futex, &told.alarm, FUTEX_WAKE, 1, nullptr, nullptr, 0);
      break;
    case Alarm::signal:
      // Nothing to a thread that has ended: its number may be another one's. A real-time signal is queued, and the queue of
      // the user may be full for a moment.
      while (board.is_alive(node) && syscall(SYS_tgkill, told.pid, told.tid, told.signal) != 0 &&
             errno == EAGAIN)
        sched_yield();
      break;
    case Alarm::thread:
      ring_thread(board, node);
      break;
  }
}

void nudge(const Board& board, NodeId node) noexcept {
  board.card(node).nudges.fetch_add(1, std::memory_order_release);  // pairs with Bell::nudged
  own_fence();                                                      // before the look at the alarm
  wake(board, node);
}

void ring_thread(const Board& board, NodeId node) noexcept {
  std::atomic<std::uint32_t>& bell = board.card(node).thread_bell;
  bell.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace am::host
