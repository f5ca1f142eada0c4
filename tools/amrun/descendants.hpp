// The processes below this one, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace amrun {

struct Process {
  pid_t pid;    // in this process's PID namespace
  pid_t shown;  // in that of /proc, which may be one around it (unshare --pid --fork)
};

// Whether the system tells at all: the kernel may be built without that, and /proc may not be mounted, or show a namespace without us.
bool children_are_shown();

// Of this thread. Empty also where the system does not tell.
std::vector<Process> children();

// Calls `visit` for each process below `of`, a parent before its children: these are asked for after that.
void visit_descendants(const Process& of, const std::function<void(const Process&)>& visit);

// still: none of its threads is in the program, or will be again without a SIGCONT, if SIGSTOP was sent: they are traced, have ended, or
// wait in the kernel for what no signal ends (a disk; the child of vfork). stopped: still, by such a signal.
enum class Motion { runs, still, stopped };
Motion motion_of(const Process& process);

}  // namespace amrun
