// Events beside the computation (am::Dispatch::thread), or in the middle of it (am::Dispatch::interrupt): who runs them
// when, and how the node is told that something has come.
//
// Source: T1 report, sections 3.4 ("There was no need to choose between the two models"), 3.8 and A.9.
//
// The engine belongs to whoever is in the node (impl::EventLock). The node's thread is in during library calls and critical
// sections; waits last as one such call, so they poll as in the polling mode, and at its speed. When the thread has left,
// one of these looks after the node:
//   - its handler thread, while that is awake: it looks at the places where news shows;
//   - nobody: then the node is armed. Whoever sends to it next wakes the handler thread, or interrupts the computation.
// Armed means: an alarm is set, no ring is watched, and after both had been made known nothing was there (Transport::arm).
// Whoever finds something and is in the node ends that; then the node's thread asks itself for attention, and when it leaves
// it runs what waits and arms the node again (attend).
//
// The first call that makes progress begins all this. Before it, no event runs in any mode: so a program may attach its
// objects and set its handlers as in the polling mode.
//
// Interrupts. A signal that finds the thread in the node only asks for attention. Otherwise it attends. While a low handler
// of the program runs, the thread is not in the node: a signal attends then, too, and at that level only high events may run
// (Interruptible). For that alone the signal is let in again, which the kernel blocks in its handler: so interrupts lie two
// deep on the stack, and never one upon the other's end. A burst costs one signal: the alarm goes off once, and is set again when the rings are empty.
#include <am/impl/event_lock.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/modes/interruptible.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"

namespace am::core {

namespace {
constexpr unsigned outlets_in_a_row = 64;  // then the computation has its turn
constexpr std::uint64_t outlet_pause_ns = 20'000;
}  // namespace

void Engine::begin_events() {
  static_cast<void>(memory_.own_segment());  // mapped before handlers use it beside us
  if (node_->dispatch_ == Dispatch::thread) {
    handler_thread_.emplace(*this, node_->lock_, place_for_thread(board(), job_.id));
    thread_serves_ = true;
  }
  begun_ = true;  // what has thrown is tried again by the next poll
  look_again();
}

/// From here on the node polls. Events that run beside us end first.
void Engine::end_events() noexcept {
  if (!node_->shared_) return;
  handler_thread_.reset();
  {
    const impl::Hold hold(*node_);
    begun_ = false;
    disarm();
    spent_.clear();
  }
  interrupt_.reset();
  node_->shared_ = false;
  if (thrown_.exception) {
    say_last(job_.id,
             "an exception came after the last call that could have thrown it: ", text_of_exception(thrown_));
    thrown_ = {};
  }
}

void Engine::keep_thrown() noexcept {
  if (!thrown_.exception) thrown_ = origin_of_current(job_.id);
}

void Engine::discard(std::shared_ptr<void> spent) {
  if (interrupts_ != 0) spent_.push_back(std::move(spent));
}

// -- the node's thread ------------------------------------------------------------------------------------------------------

void Engine::attend() noexcept {
  const int error = errno;  // of the program: it may be leaving operator delete (am/safe_new.hpp)
  bool wake_thread = false;
  do {
    node_->depth_ = 1;
    node_->lock_.enter();
    node_->lock_.take_attention();
    if (begun_) {
      if (node_->dispatch_ == Dispatch::thread) {
        if (attend_for_thread()) wake_thread = true;
      } else {
        attend_to_interrupts();
      }
    }
    node_->depth_ = 0;
  } while (node_->lock_.leave());
  if (wake_thread) handler_thread_->wake();  // out of the node: it may run here at once, and find it taken
  errno = error;
}

/// Only the computation looks at the board (look_after_peers): below a handler a nudge stays news until it does.
bool Engine::arm(host::Alarm alarm, Transport::Wanted wanted) noexcept {
  const bool computing = node_->events_.level == impl::Level::computation;
  bell_.set(alarm);
  if (network().arm(wanted)) {
    networks_.watch_descriptors();
    if (!computing || !bell_.nudged()) return true;
    network().disarm();
  }
  bell_.clear();
  return false;
}

bool Engine::still_armed() noexcept {
  return bell_.is_set() && network().still_armed({.high = true, .low = true});
}

void Engine::disarm() noexcept {
  bell_.clear();
  network().disarm();
}

std::uint32_t Engine::step_out() noexcept {
  const std::uint32_t depth = std::exchange(node_->depth_, 0u);
  if (node_->lock_.leave()) attend();
  return depth;
}

void Engine::step_in(std::uint32_t depth) noexcept {
  node_->lock_.enter();
  node_->depth_ = depth;
}

/// Whether the handler thread is to be woken, once this thread has left the node. Woken before, on a processor that they share
/// it ran at once, found the node taken and went back to sleep; and the node's thread, told of that, woke it again.
bool Engine::attend_for_thread() noexcept {
  if (handler_thread_->went_to_sleep()) {
    thread_serves_ = false;
    thread_wakes_ = never;
  }
  if (thread_serves_) {
    handler_thread_->look_again();
    return false;
  }
  disarm();
  bool quiet = false;
  for (unsigned round = 0; !quiet && round < outlets_in_a_row; ++round) quiet = run_events() == 0;
  if (quiet && next_timelet() >= thread_wakes_ && !outlet_may_run() && arm(host::Alarm::thread, wanted()))
    return false;
  thread_serves_ = true;
  return true;
}

void Engine::attend_to_interrupts() noexcept {
  const bool computing = node_->events_.level == impl::Level::computation;
  if (interrupts_ == 0) spent_.clear();
  disarm();
  unsigned outlets = 0;
  bool armed = false;
  while (!armed) {
    // Arms only after a look that found nothing to run: a handler that ran has armed and disarmed the node for itself,
    // and so forgotten what credit it waits for, and a look that ran many requests has not looked at the timelets.
    const bool quiet = run_events() == 0;
    const bool outlet = computing && outlet_may_run();
    if (outlet ? ++outlets < outlets_in_a_row : !quiet) continue;
    if (computing) block_signal(true);
    armed = arm(host::Alarm::signal, wanted());
  }
  if (computing) set_timer(outlets >= outlets_in_a_row);
}

void Engine::set_timer(bool soon) noexcept {
  Count next = next_timelet();
  if (soon) next = std::min(next, now() + outlet_pause_ns);
  if (next == timer_) return;
  timer_ = next;
  interrupt_->set_timer(next == never ? 0 : next + epoch_ns_);
}

void Engine::interrupted() noexcept {
  if (!node_->shared_) return;
  impl::count(card().interrupts);
  if (node_->lock_.thread_is_inside()) return node_->lock_.want_attention();
  const std::uint32_t depth = node_->depth_;  // the thread may be about to enter, or have just left
  const bool blocked = std::exchange(signal_blocked_, true);  // by the kernel
  ++interrupts_;
  attend();
  --interrupts_;
  signal_blocked_ = blocked;
  node_->depth_ = depth;
}

// -- the handler thread -----------------------------------------------------------------------------------------------------

Count Engine::serve(Lookout& lookout) noexcept {
  thread_serves_ = true;
  disarm();
  const std::size_t ran = run_events();
  lookout.clear();
  const bool more = network().describe(lookout, wanted());
  if (more || ran >= requests_per_poll || network().holds_back() || outlet_may_run()) return 0;
  return next_timelet();
}

Count Engine::rest() noexcept {
  try {
    look_after_peers(true);
  } catch (...) {
    keep_thrown();
  }
  disarm();
  if (run_events() != 0) return 0;  // tries again what no credit was there for, so that arm asks for it
  if (outlet_may_run() || !arm(host::Alarm::thread, wanted())) return 0;
  thread_serves_ = false;
  thread_wakes_ = std::max<Count>(next_timelet(), 1);
  return thread_wakes_;
}

}  // namespace am::core
