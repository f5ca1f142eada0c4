#include "core/modes/handler_thread.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <string>

#include "core/modes/attendant.hpp"
#include "core/modes/short_turns.hpp"
#include "host/clock.hpp"
#include "host/heavy_fence.hpp"
#include "host/relax.hpp"

namespace am::core {

namespace {

constexpr std::uint32_t spin_rounds = 10000;             // 30 to 120 us
constexpr std::uint64_t longest_sleep_ns = 250'000'000;  // then it looks after the node's peers
constexpr std::uint64_t short_nap_ns = 1'000'000;        // where no heavy fence makes sure that it is woken

}  // namespace

HandlerThread::HandlerThread(Attendant& attendant, impl::EventLock& lock, ThreadPlace place)
    : attendant_(attendant),
      lock_(lock),
      place_(place),
      thread_(
          "am events " + std::to_string(attendant.place().self), [this] { run(); },
          "choose AM_DISPATCH=poll") {}

HandlerThread::~HandlerThread() {
  if (!thread_.is_in_this_process()) return;
  stop_.store(true, std::memory_order_release);
  wake();
}

/// Where that is forbidden it stays where its node runs.
void HandlerThread::move_to_its_place() const noexcept {
  if (place_.cpu < 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(place_.cpu), &one);
  sched_setaffinity(0, sizeof one, &one);
}

std::uint32_t HandlerThread::bell() const noexcept {
  return attendant_.card().thread_bell.load(std::memory_order_acquire);
}

void HandlerThread::wake() noexcept {
  look_again();
  host::ring_thread(attendant_.place().board, attendant_.place().self);
}

inline bool HandlerThread::news() const noexcept {
  return look_.load(std::memory_order_relaxed) || lookout_.news() ||
         (next_look_ != Attendant::never && attendant_.now() >= next_look_);
}

void HandlerThread::run() noexcept {
  impl::events_of_this_thread = attendant_.node();
  move_to_its_place();
  ask_for_short_turns();
  prctl(PR_SET_TIMERSLACK, 1);  // wakes for timelets when they are due, not up to 50 us later
  while (!stop_.load(std::memory_order_acquire)) {
    if (lock_.thread_is_inside()) {
      wait_for_the_thread();
    } else if (news()) {
      serve();
    } else if (!place_.own_processor || ++idle_ >= spin_rounds) {
      rest();
    } else if (place_.cpu < 0) {
      host::
          relax();  // else the core is its own: nobody there gains by a pause, and a message waits for its end
    }
  }
}

void HandlerThread::serve() noexcept {
  if (!lock_.try_enter_events()) return;
  blocked_ = 0;
  look_.store(false, std::memory_order_relaxed);  // what it asks for is found now
  next_look_ = attendant_.serve(lookout_);
  lock_.leave_events();
  idle_ = 0;
}

/// The node's thread is in the node: for a moment, or because it waits.
void HandlerThread::wait_for_the_thread() noexcept {
  if (place_.own_processor && ++blocked_ < spin_rounds) return host::relax();
  blocked_ = 0;
  const std::uint32_t before = bell();
  asked_.store(true, std::memory_order_relaxed);  // released by ask_for_attention
  if (lock_.ask_for_attention())
    sleep(before, host::heavy_fence_works() ? Attendant::never : attendant_.now() + short_nap_ns);
  look_again();
}

void HandlerThread::rest() noexcept {
  idle_ = 0;
  const std::uint32_t before = bell();
  if (!lock_.try_enter_events()) return;
  next_look_ = attendant_.rest();
  lock_.leave_events();
  if (next_look_ != 0) sleep(before, next_look_);
  look_again();
}

/// Until the bell has been rung since it read `bell`. Not for long: once the node computes, it is the only one that looks
/// after its peers.
void HandlerThread::sleep(std::uint32_t bell, std::uint64_t until) noexcept {
  if (stop_.load(std::memory_order_acquire)) return;
  const std::uint64_t now = attendant_.now();
  const std::uint64_t nap_ns = until > now ? std::min(until - now, longest_sleep_ns) : 0;
  const timespec timeout = host::timespec_of(nap_ns);
  if (nap_ns != 0) syscall(SYS_futex, &attendant_.card().thread_bell, FUTEX_WAIT, bell, &timeout, nullptr, 0);
}

}  // namespace am::core
