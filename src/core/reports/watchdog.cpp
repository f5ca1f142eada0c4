#include "core/reports/watchdog.hpp"

#include <semaphore.h>
#include <unistd.h>
#include <am/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>

#include "core/modes/shared_signal.hpp"
#include "core/node/own_thread.hpp"
#include "core/reports/text_out.hpp"
#include "core/settings/setting_value.hpp"
#include "host/clock.hpp"
#include "host/standstill.hpp"

namespace am::core {

/// The process's thread, and whom it watches. Never destroyed: a signal may come at any time.
class WatchdogThread {
 public:
  /// A forked child has not its parent's.
  static WatchdogThread& of_this_process();

  void add(Watchdog& watchdog);
  void remove(Watchdog& watchdog) noexcept;

 private:
  WatchdogThread() { sem_init(&wake_, 0, 0); }

  static void on_signal(int signal, siginfo_t* info, void* context) noexcept;
  void take_signal(int signal);
  void stop() noexcept;
  void run();
  std::uint64_t attend(TextOut& out);
  void answer(TextOut& out) const;
  void answer(TextOut& out, const Watchdog& watchdog) const;
  [[nodiscard]] bool is_first_of_its_job(const Watchdog& watchdog) const noexcept;
  void sleep_until(std::uint64_t when_ns) noexcept;

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static inline std::atomic<WatchdogThread*> current_{nullptr};

  const pid_t pid_ = getpid();
  sem_t wake_;
  std::atomic<bool> asked_{false};  // by the signal
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // for all that follows; the thread holds it while it reports, and only tries to get it
  Watchdog* first_ = nullptr;
  std::unique_ptr<OwnThread> thread_;
  SharedSignal shared_signal_{&on_signal};
};

WatchdogThread& WatchdogThread::of_this_process() {
  WatchdogThread* now = current_.load(std::memory_order_acquire);
  while (now == nullptr || now->pid_ != getpid()) {
    auto* own = new WatchdogThread;
    if (current_.compare_exchange_strong(now, own, std::memory_order_acq_rel)) return *own;
    sem_destroy(&own->wake_);
    delete own;
  }
  return *now;
}

void WatchdogThread::on_signal(int /*signal*/, siginfo_t* /*info*/, void* /*context*/) noexcept {
  const int error = errno;
  WatchdogThread* const own = current_.load(std::memory_order_acquire);
  if (own != nullptr && own->pid_ == getpid()) {
    own->asked_.store(true, std::memory_order_relaxed);  // published by the next line
    sem_post(&own->wake_);
  }
  errno = error;
}

void WatchdogThread::add(Watchdog& watchdog) {
  const std::lock_guard lock(mutex_);
  if (watchdog.signal_ != 0) take_signal(watchdog.signal_);
  if (!thread_) {
    try {
      thread_ = std::make_unique<OwnThread>(
          "am watchdog", [this] { run(); }, "do without AM_WATCHDOG");
    } catch (...) {
      if (watchdog.signal_ != 0) shared_signal_.give_back();
      throw;
    }
  }
  watchdog.next_ = first_;
  first_ = &watchdog;
  sem_post(&wake_);
}

void WatchdogThread::remove(Watchdog& watchdog) noexcept {
  const std::lock_guard lock(mutex_);
  Watchdog** place = &first_;
  while (*place != &watchdog) place = &(*place)->next_;
  *place = watchdog.next_;
  if (watchdog.signal_ != 0) shared_signal_.give_back();
  if (first_ == nullptr) stop();
}

/// The thread does not wait for the mutex: so it ends although we hold it.
void WatchdogThread::stop() noexcept {
  stop_.store(true, std::memory_order_release);
  sem_post(&wake_);
  thread_.reset();
  stop_.store(false, std::memory_order_relaxed);
}

void WatchdogThread::take_signal(int signal) {
  const auto refuse = [&](const std::string& why) {
    throw Error("start", why, "choose another one for AM_WATCHDOG_SIGNAL, or none");
  };
  switch (shared_signal_.take(signal)) {
    case SharedSignal::Answer::taken:
      return;
    case SharedSignal::Answer::another_is_taken:
      refuse("another job of this program has its reports on signal " +
             format_signal(shared_signal_.signal()));
      break;
    case SharedSignal::Answer::program_handles_it:
      refuse("the program handles signal " + format_signal(signal) + " itself");
      break;
    case SharedSignal::Answer::cannot_be_handled:
      refuse(format_signal(signal) + " cannot be handled");
  }
}

void WatchdogThread::run() {
  TextOut out(&write_to_stderr);
  while (!stop_.load(std::memory_order_acquire)) {
    constexpr std::uint64_t busy_ns = 1'000'000;  // somebody begins or ends to be watched
    std::uint64_t next_ns = host::monotonic_ns() + busy_ns;
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) next_ns = attend(out);
    sleep_until(next_ns);
  }
}

/// Whatever is due; when to come again.
std::uint64_t WatchdogThread::attend(TextOut& out) {
  if (asked_.exchange(false, std::memory_order_acquire)) answer(out);
  std::uint64_t next_ns = never;
  for (Watchdog* watchdog = first_; watchdog != nullptr; watchdog = watchdog->next_) {
    if (!watchdog->looks_ || !is_first_of_its_job(*watchdog)) continue;
    if (const std::uint64_t now = host::monotonic_ns(); now >= watchdog->due_ns_) {
      watchdog->watch_.look(host::running_ns(watchdog->job_.board().job()), out);
      watchdog->due_ns_ = now + watchdog->watch_.interval_ns();
    }
    next_ns = std::min(next_ns, watchdog->due_ns_);
  }
  out.flush();
  return next_ns;
}

/// Nodes of one job, as threads of this process, need one to look.
bool WatchdogThread::is_first_of_its_job(const Watchdog& watchdog) const noexcept {
  const Watchdog* first = first_;
  while (&first->job_.board() != &watchdog.job_.board() || first->looks_ != watchdog.looks_)
    first = first->next_;
  return first == &watchdog;
}

void WatchdogThread::answer(TextOut& out) const {
  for (const Watchdog* watchdog = first_; watchdog != nullptr; watchdog = watchdog->next_) {
    if (watchdog->signal_ != 0 && is_first_of_its_job(*watchdog)) answer(out, *watchdog);
  }
}

/// A signal to a whole job reaches every process: the first one answers.
void WatchdogThread::answer(TextOut& out, const Watchdog& watchdog) const {
  constexpr std::uint64_t at_once_ns = 200'000'000;
  host::JobHeader& job = watchdog.job_.board().job();
  const std::uint64_t now = host::monotonic_ns();
  const std::uint64_t last = job.asked_ns.exchange(now, std::memory_order_relaxed);
  const std::int32_t last_asked = job.asked.exchange(pid_, std::memory_order_relaxed);
  if (last_asked != pid_ && last != 0 && now - last < at_once_ns) return;
  out << "am: node " << watchdog.node_ << " was asked for a report\n";
  describe_job(out, watchdog.job_);
}

void WatchdogThread::sleep_until(std::uint64_t when_ns) noexcept {
  if (when_ns == never) {
    sem_wait(&wake_);
    return;
  }
  const timespec at = host::timespec_of(when_ns);
  sem_clockwait(&wake_, CLOCK_MONOTONIC, &at);
}

Watchdog::Watchdog(const Onlooker& job, NodeId node, const Settings& settings)
    : job_(job),
      node_(node),
      signal_(settings.watchdog_signal),
      looks_(settings.watchdog_ns != 0 && job.board().job().launcher_watches == 0),
      watch_(job, settings.watchdog_ns) {
  if (settings.dispatch == Dispatch::interrupt && signal_ == settings.signal) {
    throw Error("start", "AM_SIGNAL and AM_WATCHDOG_SIGNAL are both " + format_signal(signal_),
                "choose another one for AM_WATCHDOG_SIGNAL, for example RTMIN+4");
  }
  WatchdogThread::of_this_process().add(*this);
}

Watchdog::~Watchdog() {
  if (job_.board().card(node_).pid != getpid()) return;  // a forked child is not watched
  WatchdogThread::of_this_process().remove(*this);
}

}  // namespace am::core
