#include "core/watchdog.hpp"

#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>

#include "core/job_watch.hpp"
#include "core/setting_value.hpp"
#include "core/signal_action.hpp"
#include "transports/shm/clock.hpp"

namespace am::core {

namespace {

/// For the signal handler: one watchdog of the process reports, however many nodes it has.
std::atomic<sem_t*> woken_by_signal{nullptr};
std::atomic<bool> asked_by_signal{false};

void on_signal(int /*signal*/) noexcept {
  const int error = errno;
  asked_by_signal.store(true, std::memory_order_relaxed);
  if (sem_t* wake = woken_by_signal.load(std::memory_order_acquire)) sem_post(wake);
  errno = error;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Watchdog::Watchdog(const shm::Segment& segment, NodeId node, const Settings& settings)
    : segment_(segment), node_(node), patience_ns_(settings.watchdog_ns), signal_(settings.watchdog_signal) {
  sem_init(&wake_, 0, 0);
  sem_t* nobody = nullptr;
  if (signal_ != 0 && woken_by_signal.compare_exchange_strong(nobody, &wake_, std::memory_order_acq_rel)) {
    struct sigaction ours {};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(signal_, nullptr, &before_);
    if (is_handler(before_) || sigaction(signal_, &ours, nullptr) != 0) {
      woken_by_signal.store(nullptr, std::memory_order_release);
      throw Error("start", "the program handles signal " + format_signal(signal_) + " itself",
                  "choose another one for AM_WATCHDOG_SIGNAL, or none");
    }
  }
  thread_ = std::make_unique<OwnThread>(
      "am watchdog " + std::to_string(node), [this] { run(); }, "do without AM_WATCHDOG");
}

Watchdog::~Watchdog() {
  if (!thread_->is_in_this_process()) return;
  stop_.store(true, std::memory_order_release);
  sem_post(&wake_);
  thread_.reset();
  sem_t* ours = &wake_;
  if (signal_ != 0 && woken_by_signal.compare_exchange_strong(ours, nullptr, std::memory_order_acq_rel)) {
    struct sigaction now {};
    if (sigaction(signal_, nullptr, &now) == 0 && now.sa_handler == &on_signal)
      sigaction(signal_, &before_, nullptr);
  }
  sem_destroy(&wake_);
}

void Watchdog::run() {
  JobWatch watch(segment_, std::max<std::uint64_t>(patience_ns_, 1));
  while (!stop_.load(std::memory_order_acquire)) {
    if (patience_ns_ == 0) {
      sem_wait(&wake_);
    } else {
      const timespec at = shm::timespec_of(shm::monotonic_ns() + watch.interval_ns());
      sem_clockwait(&wake_, CLOCK_MONOTONIC, &at);
    }
    if (signal_ != 0 && woken_by_signal.load(std::memory_order_acquire) == &wake_ &&
        asked_by_signal.exchange(false, std::memory_order_relaxed)) {
      print("am: node " + std::to_string(node_) + " was asked by signal " + format_signal(signal_) + "\n" +
            describe_job(segment_));
    }
    if (patience_ns_ == 0) continue;
    const auto report = watch.look(shm::monotonic_ns());
    if (report && segment_.job().launcher_watches == 0) report_hang(patience_ns_, *report);
  }
}

/// Others see the same hang: the first one speaks.
void Watchdog::report_hang(std::uint64_t patience_ns, const std::string& text) const {
  std::atomic<std::uint64_t>& spoken = segment_.job().watchdog_spoke_ns;
  const std::uint64_t now = shm::monotonic_ns();
  std::uint64_t last = spoken.load(std::memory_order_relaxed);
  if (last != 0 && now - last < patience_ns) return;
  if (spoken.compare_exchange_strong(last, now, std::memory_order_relaxed)) print(text);
}

}  // namespace am::core
