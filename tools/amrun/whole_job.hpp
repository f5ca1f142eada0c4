// A job that is stopped and goes on as a whole: all processes below the one that started it, whatever they made of themselves. Main
// thread only.
//
// By SIGSTOP and SIGCONT to each process. A process group would be one system call, but whoever has left it (setsid; a shell with job
// control) would run on. And nodes have to stay in amrun's group, or they could not read the terminal. A control group with a freezer
// is root's on most machines. So /proc is asked for the processes. Orphans among them belong to the starter, which is a subreaper
// (leftovers.hpp); one under strace or a debugger is stopped, too.
//
// - Nobody can ignore these signals. Only a process of another user (sudo) runs on, and one that a debugger keeps going.
// - All of a job stand still when stop() returns: it looks for those that were forked meanwhile until there are none. Before they go
//   on, the job's deadlines do (host/standstill.hpp).
// - Parents are stopped first and go on last: none sees a child stopped.
// - What the program itself had stopped stays stopped.
#pragma once

#include <sys/types.h>

#include <vector>

#include "amrun/descendants.hpp"
#include "host/board.hpp"

namespace amrun {

class WholeJob {
 public:
  // `starter`: a child of this thread, which goes on itself.
  WholeJob(pid_t starter, am::host::JobHeader& job);

  // False when some process still runs after 10 s. Again of one that stands still: stops what somebody else has continued.
  bool stop();
  // Where it stands still. `all`: what others have stopped (Ctrl-Z) goes on, too.
  void go_on(bool all);

 private:
  Motion stop_once(std::vector<pid_t>& known);

  const Process starter_;
  am::host::JobHeader& job_;
  std::vector<pid_t> stopped_before_;  // by somebody else
  bool all_stop_ = true;               // did the last time
};

}  // namespace amrun
