#include "amrun/leftovers.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "amrun/descendants.hpp"

namespace amrun {
namespace {

std::vector<pid_t> numbers_of_children() {
  std::vector<pid_t> numbers;
  for (const Process& child : children()) numbers.push_back(child.pid);
  return numbers;
}

}  // namespace

Leftovers::Leftovers() : inherited_(numbers_of_children()) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void Leftovers::collected(pid_t child) { std::erase(inherited_, child); }

void Leftovers::end() const {
  // Whoever is killed hands its own children on to us: hence rounds, until none is left.
  for (;;) {
    std::vector<pid_t> left = numbers_of_children();
    std::erase_if(left,
                  [this](pid_t child) { return std::ranges::find(inherited_, child) != inherited_.end(); });
    // One that became another user (sudo) is not ours to kill, and not to wait for.
    std::erase_if(left, [](pid_t child) { return kill(child, SIGKILL) != 0 && errno == EPERM; });
    if (left.empty()) return;
    for (const pid_t child : left) waitpid(child, nullptr, 0);  // of any child, it might be one that lives on
  }
}

}  // namespace amrun
