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

// stopped: by a signal, all threads. still: none of its threads runs, or will before a SIGCONT: they have ended, or are traced. waits: some
// are in the kernel, where no signal comes to them (a disk; a lock; the child of vfork). What they do there they finish, for example a
// fork; other threads may not know of a SIGSTOP yet.
enum class Motion { runs, waits, still, stopped };
Motion motion_of(const Process& process);

}  // namespace amrun
