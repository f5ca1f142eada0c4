#include "core/modes/interrupts.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <am/error.hpp>
#include <am/impl/current_node.hpp>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "core/modes/continue_call.hpp"
#include "core/modes/shared_signal.hpp"
#include "core/node/engine.hpp"
#include "host/clock.hpp"

namespace am::core {

namespace {

void on_signal(int /*signal*/, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  if (Node* node = impl::current_node()) {
    if (node->engine().card().pid == getpid())
      node->engine().attendant().interrupted(info->si_code == SI_TIMER);  // a forked child is not the node
    continue_call(*static_cast<ucontext_t*>(context));
  }
  errno = error;
}

std::string name_of(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

/// Of the nodes of this process. Blocked while its handler runs, but for low handlers (Interruptible).
struct OfThisProcess {
  std::mutex mutex;
  SharedSignal signal{&on_signal};
};
OfThisProcess& of_this_process() {
  static OfThisProcess the;
  return the;
}

void take(int signal) {
  OfThisProcess& all = of_this_process();
  const std::lock_guard lock(all.mutex);
  switch (all.signal.take(signal)) {
    case SharedSignal::Answer::taken:
      return;
    case SharedSignal::Answer::another_is_taken:
      throw Error("start", "another node of this process is interrupted by " + name_of(all.signal.signal()),
                  "give all of them the same AM_SIGNAL");
    case SharedSignal::Answer::program_handles_it:
      throw Error(
          "start",
          "the program handles " + name_of(signal) +
              " itself, by which the interrupt mode (AM_DISPATCH=interrupt) would run message handlers",
          "choose a signal that it does not use, for example AM_SIGNAL=USR2");
    case SharedSignal::Answer::cannot_be_handled:
      break;
  }
  throw Error("start", name_of(signal) + " cannot be handled", "choose another signal: AM_SIGNAL=URG");
}

void give_back() noexcept {
  OfThisProcess& all = of_this_process();
  const std::lock_guard lock(all.mutex);
  all.signal.give_back();
}

}  // namespace

Interrupts::Interrupts(int signal) : signal_(signal), pid_(getpid()) {
  take(signal);
  block(false);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
    const std::string why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): set-up
    give_back();
    throw Error("start", "no timer for the interrupt mode: " + why,
                "raise ulimit -i (pending signals and timers)");
  }
}

Interrupts::~Interrupts() {
  if (getpid() != pid_) return;  // a forked child has neither the timer nor the node
  timer_delete(timer_);
  give_back();
}

void Interrupts::block(bool blocked) noexcept {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal_);
  pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &own, nullptr);
}

/// That it has rung is read from the clock: what the system says is left may be older than that.
void Interrupts::set_timer(std::uint64_t when_ns) noexcept {
  itimerspec at{};
  at.it_value = host::timespec_of(when_ns);
  timer_settime(timer_, TIMER_ABSTIME, &at, nullptr);
  const std::uint64_t now = host::monotonic_ns();
  const bool has_rung = now >= rings_at_.load(std::memory_order_relaxed);
  if (!has_rung) return rings_at_.store(when_ns != 0 ? when_ns : never, std::memory_order_relaxed);
  rings_at_.store(now, std::memory_order_relaxed);
  constexpr itimerspec at_once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1}};
  timer_settime(timer_, 0, &at_once, nullptr);
}

}  // namespace am::core
