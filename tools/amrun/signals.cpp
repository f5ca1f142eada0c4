#include "amrun/signals.hpp"
#include "host/clock.hpp"

#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "amrun/fault.hpp"

namespace amrun {
namespace {

constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  // Whoever started amrun may ignore the end of children; then the kernel would keep no exit code for us.
  signal(SIGCHLD, SIG_DFL);
  sigemptyset(&awaited_);
  sigaddset(&awaited_, SIGCHLD);
  sigaddset(&awaited_, notice());
  for (const int number : passed_on) {
    if (!is_ignored(number)) sigaddset(&awaited_, number);
  }
  sigprocmask(SIG_BLOCK, &awaited_, &original_mask_);

  // A reader that has gone away is an error of write, not the end of amrun.
  sigaction(SIGPIPE, nullptr, &original_pipe_);
  signal(SIGPIPE, SIG_IGN);
}

Signals::~Signals() {
  signal(notice(), SIG_IGN);  // one that nobody waits for any more
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

std::optional<siginfo_t> Signals::wait(std::optional<std::uint64_t> timeout_ns) const {
  siginfo_t info;
  if (!timeout_ns) {
    while (sigwaitinfo(&awaited_, &info) < 0) {  // EINTR: stopped and continued
    }
    return info;
  }
  const timespec timeout = am::host::timespec_of(*timeout_ns);
  if (sigtimedwait(&awaited_, &info, &timeout) < 0) return std::nullopt;
  return info;
}

int Signals::open_descriptor() const {
  const int fd = signalfd(-1, &awaited_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw Fault(failed, "cannot wait for signals: " + system_text(errno));
  return fd;
}

void Signals::notify() const noexcept { kill(getpid(), notice()); }

void Signals::let_end_amrun() const {
  while (wait(0)) {
  }
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, number);
  sigprocmask(SIG_UNBLOCK, &ending, nullptr);
}

void Signals::restore_in_node() const noexcept {
  sigaction(SIGPIPE, &original_pipe_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

}  // namespace amrun
