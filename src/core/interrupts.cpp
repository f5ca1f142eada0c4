#include "core/interrupts.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <am/error.hpp>
#include <am/impl/current_node.hpp>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "core/continue_call.hpp"
#include "core/engine.hpp"
#include "core/signal_action.hpp"
#include "transports/shm/clock.hpp"

namespace am::core {

namespace {

/// What the nodes of this process share.
struct Shared {
  std::mutex mutex;
  int nodes = 0;
  int signal = 0;
  struct sigaction before {};
};
Shared& shared() {
  static Shared the;
  return the;
}

void on_signal(int /*signal*/, siginfo_t* /*info*/, void* context) noexcept {
  const int error = errno;
  if (Node* node = impl::current_node()) {
    if (node->engine().card().pid == getpid())
      node->engine().interrupted();  // a forked child is not the node
    continue_call(*static_cast<ucontext_t*>(context));
  }
  errno = error;
}

std::string name_of(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_signal;
}

void take(int signal) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.nodes != 0) {
    if (all.signal != signal)
      throw Error("start", "another node of this process is interrupted by " + name_of(all.signal),
                  "give all of them the same AM_SIGNAL");
    ++all.nodes;
    return;
  }
  struct sigaction ours {};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;  // blocked meanwhile, but for low handlers (Interruptible)
  sigemptyset(&ours.sa_mask);
  if (sigaction(signal, nullptr, &all.before) != 0)
    throw Error("start", name_of(signal) + " cannot be handled", "choose another signal: AM_SIGNAL=URG");
  // Ours may be there yet, from a node that left (give_back): below it was the default.
  if (is_ours(all.before)) all.before = {};
  if (is_handler(all.before)) {
    throw Error("start",
                "the program handles " + name_of(signal) +
                    " itself, by which the interrupt mode (AM_DISPATCH=interrupt) would run message handlers",
                "choose a signal that it does not use, for example AM_SIGNAL=USR2");
  }
  if (sigaction(signal, &ours, nullptr) != 0)
    throw Error("start", name_of(signal) + " cannot be handled", "choose another signal: AM_SIGNAL=URG");
  all.signal = signal;
  all.nodes = 1;
}

void give_back() noexcept {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (--all.nodes != 0) return;
  struct sigaction now {};
  if (sigaction(all.signal, nullptr, &now) != 0 || !is_ours(now))
    return;  // the program has taken it meanwhile
  // A sender may be about to send one more. Where the default would end the process our handler stays, and does nothing.
  const bool ignored = !is_handler(all.before) && all.before.sa_handler == SIG_IGN;
  if (ignored || is_ignored_by_default(all.signal)) sigaction(all.signal, &all.before, nullptr);
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

void Interrupts::set_timer(std::uint64_t when_ns) noexcept {
  itimerspec at{};
  at.it_value = shm::timespec_of(when_ns);
  timer_settime(timer_, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace am::core
