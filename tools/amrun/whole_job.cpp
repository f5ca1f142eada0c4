#include "amrun/whole_job.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <ranges>

#include "host/clock.hpp"
#include "host/standstill.hpp"

namespace amrun {
namespace {

constexpr std::uint64_t stopping_ns = am::host::second_ns;  // assumed

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
  std::vector<pid_t> known;
  bool all = false;
  while (!(all = stop_once(known)) && am::host::monotonic_ns() - began_ns < stopping_ns) sched_yield();
  am::host::stop_time(job_);
  return all;
}

// True when there were none but known ones, and all were still.
bool WholeJob::stop_once(std::vector<pid_t>& known) {
  bool all = true;
  visit_descendants(starter_, [&](const Process& process) {
    const bool is_new = !contains(known, process.pid);
    const Motion motion = motion_of(process);
    if (is_new) known.push_back(process.pid);
    if (is_new && motion == Motion::stopped && !am::host::stands_still(job_))
      stopped_before_.push_back(process.pid);
    if (!is_new && motion != Motion::runs) return;
    if (kill(process.pid, SIGSTOP) == 0) all = false;
  });
  return all;
}

void WholeJob::go_on(bool all) {
  if (!all && !am::host::stands_still(job_)) return;
  am::host::let_time_go_on(job_);
  std::vector<pid_t> processes;
  visit_descendants(starter_, [&](const Process& process) { processes.push_back(process.pid); });
  for (const pid_t process : processes | std::views::reverse) {
    if (all || !contains(stopped_before_, process)) kill(process, SIGCONT);
  }
  stopped_before_.clear();
}

}  // namespace amrun
