#include "core/modes/attendant.hpp"

#include <algorithm>
#include <cerrno>

#include "core/reports/fatal.hpp"

namespace am::core {

namespace {
constexpr unsigned outlets_in_a_row = 64;  // then the computation has its turn
constexpr std::uint64_t outlet_pause_ns = 20'000;
}  // namespace

// -- beginning and end ------------------------------------------------------------------------------------------------------

void Attendant::begin_events() {
  ward_.events_begin();
  if (place_.dispatch == Dispatch::thread) {
    handler_thread_.emplace(*this, in_->lock, place_for_thread(place_.board, place_.self));
    thread_serves_ = true;
  }
  begun_ = true;  // what has thrown is tried again by the next poll
  look_again();
}

void Attendant::stop() noexcept {
  if (!in_->shared) return;
  handler_thread_.reset();
  {
    const impl::Hold hold(*in_->node);
    begun_ = false;
    ward_.disarm();
    spent_.clear();
  }
  interrupt_.reset();
  ended_ = impl::events_of_this_thread ==
           in_->node;  // then the node's thread, which may go on, is to find the lock taken
  in_->shared = ended_;
}

void Attendant::end() noexcept {
  stop();
  if (thrown_.exception) {
    say_last(place_.self,
             "an exception came after the last call that could have thrown it: ", text_of_exception(thrown_));
    thrown_ = {};
  }
}

// -- the node's thread ------------------------------------------------------------------------------------------------------

void Attendant::attend() noexcept {
  const int error = errno;  // of the program: it may be leaving operator delete (am/safe_new.hpp)
  bool wake_thread = false;
  do {
    in_->depth = 1;
    in_->lock.enter();
    in_->lock.take_attention();
    if (begun_) {
      if (place_.dispatch == Dispatch::thread) {
        if (attend_for_thread()) wake_thread = true;
      } else {
        attend_to_interrupts();
      }
    }
    in_->depth = 0;
  } while (in_->lock.leave());
  if (wake_thread) handler_thread_->wake();  // out of the node: it may run here at once, and find it taken
  errno = error;
}

std::uint32_t Attendant::step_out() noexcept {
  const std::uint32_t depth = std::exchange(in_->depth, 0u);
  if (in_->lock.leave()) attend();
  return depth;
}

void Attendant::step_in(std::uint32_t depth) noexcept {
  in_->lock.enter();
  in_->depth = depth;
}

/// Whether the handler thread is to be woken, once this thread has left the node. Woken before, on a processor that they share
/// it ran at once, found the node taken and went back to sleep; and the node's thread, told of that, woke it again.
bool Attendant::attend_for_thread() noexcept {
  if (handler_thread_->went_to_sleep()) {
    thread_serves_ = false;
    thread_wakes_ = never;
  }
  if (thread_serves_) {
    handler_thread_->look_again();
    return false;
  }
  ward_.disarm();
  bool quiet = false;
  for (unsigned round = 0; !quiet && round < outlets_in_a_row; ++round) quiet = ward_.run_events() == 0;
  if (quiet && ward_.next_due() >= thread_wakes_ && !ward_.outlet_may_run() && ward_.arm(host::Alarm::thread))
    return false;
  thread_serves_ = true;
  return true;
}

void Attendant::attend_to_interrupts() noexcept {
  const bool computing = ward_.computes();
  drop_discarded();
  ward_.disarm();
  unsigned outlets = 0;
  bool armed = false;
  while (!armed) {
    // Arms only after a look that found nothing to run: a handler that ran has armed and disarmed the node for itself,
    // and so forgotten what credit it waits for, and a look that ran many requests has not looked at the timelets.
    const bool quiet = ward_.run_events() == 0;
    const bool outlet = computing && ward_.outlet_may_run();
    if (outlet ? ++outlets < outlets_in_a_row : !quiet) continue;
    if (computing) block_signal(true);
    armed = ward_.arm(host::Alarm::signal);
  }
  if (computing) set_timer(outlets >= outlets_in_a_row);
}

void Attendant::set_timer(bool soon) noexcept {
  Count next = ward_.next_due();
  if (soon) next = std::min(next, now() + outlet_pause_ns);
  if (next == timer_.load(std::memory_order_relaxed)) return;
  timer_.store(next, std::memory_order_relaxed);
  interrupt_->set_timer(next == never ? 0 : host::JobClock(place_.board.job()).monotonic_at(next));
}

void Attendant::interrupted(bool by_timer) noexcept {
  if (!in_->shared) return;
  impl::count(card().interrupts);
  if (by_timer) {
    // It may have come a little early (JobClock::monotonic_at): then it is set again.
    timer_.store(never, std::memory_order_relaxed);
    if (interrupt_) interrupt_->hear_timer();  // not while it ends
  }
  if (in_->lock.thread_is_inside()) return in_->lock.want_attention();
  const std::uint32_t depth = in_->depth;  // the thread may be about to enter, or have just left
  const bool blocked = std::exchange(signal_blocked_, true);  // by the kernel
  ++interrupts_;
  attend();
  --interrupts_;
  signal_blocked_ = blocked;
  in_->depth = depth;
}

// -- the handler thread -----------------------------------------------------------------------------------------------------

Count Attendant::serve(Lookout& lookout) noexcept {
  thread_serves_ = true;
  ward_.disarm();
  const std::size_t ran = ward_.run_events();
  lookout.clear();
  if (ward_.more_waits(lookout, ran) || ward_.outlet_may_run()) return 0;
  return ward_.next_due();
}

Count Attendant::rest() noexcept {
  ward_.look_after_peers();
  ward_.disarm();
  if (ward_.run_events() != 0) return 0;  // tries again what no credit was there for, so that arm asks for it
  if (ward_.outlet_may_run() || !ward_.arm(host::Alarm::thread)) return 0;
  thread_serves_ = false;
  thread_wakes_ = std::max<Count>(ward_.next_due(), 1);
  return thread_wakes_;
}

}  // namespace am::core
