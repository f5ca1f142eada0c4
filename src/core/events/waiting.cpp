#include <sched.h>
#include <am/impl/waiter.hpp>

#include <algorithm>
#include <string>

#include "core/node/engine.hpp"
#include "core/reports/card_words.hpp"
#include "core/reports/fatal.hpp"
#include "core/reports/once.hpp"
#include "core/reports/report.hpp"
#include "host/standstill.hpp"

namespace am::impl {

namespace {
constexpr std::uint32_t spin_rounds = 10000;  // some 40 us of polls that find nothing in shared memory
constexpr Count longest_spin_ns = 50'000;     // of polls that cost more: an emulated network's are 1 ms
constexpr std::uint32_t yield_rounds = 100;   // alone on a core, a yield returns at once: 20 us
constexpr std::uint32_t crowded_yield_rounds = 300;  // the others run meanwhile
// A timer that is due sooner than the kernel's own tick has to be set, and taken back, at each sleep: 1 ms made a wake-up a
// tenth slower (ambench dispatch).
constexpr std::uint64_t shortest_nap_ns = 4'000'000;
constexpr std::uint64_t longest_nap_ns = 16'000'000;
// A longer gap between two naps is not waiting: the process was stopped (Ctrl-Z, a debugger, a suspended machine).
constexpr std::uint64_t longest_gap_ns = 100'000'000;
}  // namespace

Waiter::Waiter(core::Engine& engine, const char* what) noexcept
    : engine_(engine),
      what_(what),
      spins_(engine.oversubscribed() ? 0 : spin_rounds),
      yields_(engine.oversubscribed() ? crowded_yield_rounds : yield_rounds),
      spins_left_(spins_),
      yields_left_(yields_) {
  engine.attendant().look_ourselves();
  polls_come(true);
}

void Waiter::polls_come(bool quickly) noexcept { engine_.glances().polls_come(quickly); }

void Waiter::publish_wait(std::uint64_t since_ns) noexcept {
  core::publish_wait(engine_.card(), what_, since_ns);
}

// Of two jobs on the same processors, each waits until the other has spun: with a window of few messages that is all they do.
void Waiter::look_at_clock() noexcept {
  const Count now = engine_.now();
  if (spins_end_ns_ == 0) {
    spins_end_ns_ = now + longest_spin_ns;
  } else if (now >= spins_end_ns_) {
    spins_left_ = 0;
  }
}

void Waiter::yield_or_sleep() {
  if (yields_left_ == 0) return sleep();
  --yields_left_;
  sched_yield();
  polls_come(true);  // much time may have gone by
}

void Waiter::sleep() {
  const std::uint64_t now = engine_.now();
  if (!patience_.is_tried()) {
    nap_ns_ = shortest_nap_ns;
    publish_wait(std::max<std::uint64_t>(now, 1));
  }
  engine_.card().held_off.store(engine_.held_off(), std::memory_order_relaxed);
  engine_.look_after_peers(true);
  const std::uint64_t left = patience_.try_again(engine_, what_);
  std::uint64_t until = now + nap_ns_;
  if (left < nap_ns_) until = now + left + 1;
  const bool timelets_run = engine_.may_run(Event::timelet);  // one that is masked wakes nobody
  if (timelets_run && !engine_.agenda().timelets.empty())
    until = std::min(until, std::max(engine_.agenda().timelets.next(), now));
  engine_.sleep(until,
                {.high = engine_.may_run(Event::high_message), .low = engine_.may_run(Event::low_message)});
  nap_ns_ = std::min(2 * nap_ns_, longest_nap_ns);
}

std::uint64_t Patience::try_again(core::Engine& engine, const char* what) {
  const core::Settings& settings = engine.settings();
  const std::uint64_t now = host::running_ns(engine.board().job());
  if (!is_tried()) {
    began_ns_ = std::max<std::uint64_t>(now, 1);
    looked_ns_ = now;
    waited_ns_ = 0;
    next_report_ns_ = settings.report_after_ns;
  }
  waited_ns_ += std::min(now - looked_ns_, longest_gap_ns);
  looked_ns_ = now;
  if (settings.timeout_ns != 0 && waited_ns_ > settings.timeout_ns) {
    core::print_report(engine, what, waited_ns_);
    core::let_one_end_the_job(engine.board(), engine.job().id, "gave up");
    core::give_up(engine.job().id, "gave up after ", waited_ns_ / 1'000'000, " ms in ", what,
                  " (AM_TIMEOUT sets how long it may take, 0 for ever): what it waits for has not come, or "
                  "its condition never holds; the report above says what others do");
  }
  if (settings.report_after_ns != 0 && waited_ns_ > next_report_ns_) {
    core::print_report(engine, what, waited_ns_);
    next_report_ns_ *= 4;
  }
  return settings.timeout_ns != 0 ? settings.timeout_ns - waited_ns_ : endless;
}

}  // namespace am::impl

namespace am::core {

std::uint32_t Engine::held_off() const noexcept { return left_ ? 0 : held_off_word(node_->events_); }

/// Only the computation looks at the board (look_after_peers): below a handler a nudge stays news until it does.
bool Engine::arm(host::Alarm alarm, Transport::Wanted wanted) noexcept {
  memory_.remote().complete();  // a network that has news of them is not armed (Transport::accesses_done)
  bell_.set(alarm);
  if (network().arm(wanted)) {
    networks_.watch_descriptors();
    if (!computes() || !bell_.nudged()) return true;
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

void Engine::events_begin() {
  static_cast<void>(memory_.own_segment());  // mapped before handlers use it beside us
}

bool Engine::more_waits(Lookout& lookout, std::size_t ran) noexcept {
  const bool more = network().describe(lookout, wanted());
  return more || ran >= requests_per_poll || network().holds_back();
}

/// Timelets, and accesses that were gathered.
Count Engine::next_due() noexcept {
  const bool timelets = may_run(Event::timelet) && !agenda_.timelets.empty();
  const Count timelet = timelets ? agenda_.timelets.next() : Attendant::never;
  return std::min(timelet, memory_.remote().next_due().value_or(Attendant::never));
}

void Engine::look_after_peers() noexcept {
  try {
    look_after_peers(true);
  } catch (...) {
    attendant_.keep_thrown();
  }
}

void Engine::sleep(Count until, Transport::Wanted wanted) noexcept {
  if (!arm(host::Alarm::sleeper, wanted)) return;
  bell_.sleep(clock_.monotonic_at(until));
  disarm();
}

void Engine::wait(const std::function<bool()>& pred, const char* what) {
  const impl::Hold hold(*node_);
  must_compute(what);
  if (!pred()) node_->wait_(what, pred);
}

}  // namespace am::core
