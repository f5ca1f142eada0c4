#include "amrun/whole_job.hpp"

#include <signal.h>

#include <algorithm>
#include <ctime>

#include "host/clock.hpp"
#include "host/standstill.hpp"

namespace amrun {
namespace {

// For a process to stop, on a machine that is crowded; and for those of a job that has one that does not. Assumed.
constexpr std::uint64_t first_patience_ns = 10 * am::host::second_ns;
constexpr std::uint64_t later_patience_ns = 10'000'000;
// With one that waits in the kernel: for a lock it does so for a moment only. Assumed.
constexpr std::uint64_t waiting_ns = 100'000'000;
constexpr timespec between_looks{.tv_sec = 0, .tv_nsec = 50'000};

Process shown(pid_t child) {
  for (const Process& one : children()) {
    if (one.pid == child) return one;
  }
  return {child, child};
}

bool contains(const std::vector<pid_t>& processes, pid_t process) {
  return std::ranges::find(processes, process) != processes.end();
}

}  // namespace

WholeJob::WholeJob(pid_t starter, am::host::JobHeader& job) : starter_(shown(starter)), job_(job) {}

bool WholeJob::stop() {
  const std::uint64_t began_ns = am::host::monotonic_ns();
  const std::uint64_t patience_ns = all_stop_ ? first_patience_ns : later_patience_ns;
  const auto is_to_wait_for = [&](Motion most) {
    const std::uint64_t limit_ns = most == Motion::runs    ? patience_ns
                                   : most == Motion::waits ? waiting_ns
                                                           : 0;
    return am::host::monotonic_ns() - began_ns < limit_ns;
  };
  std::vector<pid_t> known;
  Motion most = stop_once(known);
  for (; is_to_wait_for(most); most = stop_once(known)) nanosleep(&between_looks, nullptr);
  am::host::stop_time(job_);
  all_stop_ = most != Motion::runs;
  return all_stop_;
}

// What those do that do most. One that was not known yet counts as running.
Motion WholeJob::stop_once(std::vector<pid_t>& known) {
  Motion most = Motion::still;
  visit_descendants(starter_, [&](const Process& process) {
    const bool is_new = !contains(known, process.pid);
    const Motion motion = motion_of(process);
    if (is_new) known.push_back(process.pid);
    if (is_new && motion == Motion::stopped && !am::host::stands_still(job_))
      stopped_before_.push_back(process.pid);
    const bool may_run = is_new || motion == Motion::runs;
    if (may_run && kill(process.pid, SIGSTOP) != 0) return;  // it is gone, or another user's
    most = std::min(most, may_run ? Motion::runs : motion);
  });
  return most;
}

void WholeJob::go_on(bool all) {
  if (!all && !am::host::stands_still(job_)) return;
  am::host::let_time_go_on(job_);
  std::vector<pid_t> processes;
  visit_descendants(starter_, [&](const Process& process) { processes.push_back(process.pid); });
  std::ranges::reverse(processes);
  for (const pid_t process : processes) {
    if (all || !contains(stopped_before_, process)) kill(process, SIGCONT);
  }
  stopped_before_.clear();
}

}  // namespace amrun
