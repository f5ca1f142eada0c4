#include "amrun/leftovers.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace amrun {

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void end_leftovers() {
  for (;;) {
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0) return;  // the usual case: there are none
    // Whoever is killed hands its own children on to us: hence rounds, until none is left.
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    bool killed = false;
    for (pid_t child = 0; children >> child;) killed = kill(child, SIGKILL) == 0 || killed;
    if (!killed) return;  // no such file here: the kernel was built without it, or /proc is not mounted
    waitpid(-1, nullptr, 0);
  }
}

}  // namespace amrun
