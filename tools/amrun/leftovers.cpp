#include "amrun/leftovers.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace amrun {
namespace {

// Whether there is anything to ask /proc about; takes nobody's exit code away.
bool have_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// The numbers of a process, one for each PID namespace that it is in, from that of /proc on inwards.
std::vector<pid_t> numbers_of(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(sizeof "NSpid:"));
    return {std::istream_iterator<pid_t>(numbers), {}};
  }
  return {};
}

// Empty also where there is no such file: the kernel was built without it, or /proc is not mounted, or shows a namespace without us.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  if (!have_children()) return found;
  // Numbers are those of /proc's namespace, which may be one around ours (unshare --pid --fork).
  const std::size_t depth = numbers_of("self").size();
  std::ifstream list("/proc/thread-self/children");
  for (pid_t child = 0; list >> child;) {
    if (depth > 1) {
      const std::vector<pid_t> numbers = numbers_of(std::to_string(child));
      if (numbers.size() >= depth) found.push_back(numbers[depth - 1]);
    } else {
      found.push_back(child);
    }
  }
  return found;
}

}  // namespace

Leftovers::Leftovers() : inherited_(children()) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void Leftovers::collected(pid_t child) { std::erase(inherited_, child); }

void Leftovers::end() const {
  // Whoever is killed hands its own children on to us: hence rounds, until none is left.
  for (;;) {
    std::vector<pid_t> left = children();
    std::erase_if(left,
                  [this](pid_t child) { return std::ranges::find(inherited_, child) != inherited_.end(); });
    // One that became another user (sudo) is not ours to kill, and not to wait for.
    std::erase_if(left, [](pid_t child) { return kill(child, SIGKILL) != 0 && errno == EPERM; });
    if (left.empty()) return;
    for (const pid_t child : left) waitpid(child, nullptr, 0);  // of any child, it might be one that lives on
  }
}

}  // namespace amrun
