// What nodes started and left behind: a job leaves no process, so it ends with them. Main thread only.
//
// Children that amrun did not start are none of its business: a shell that replaces itself with amrun hands on what it runs
// in the background (`tee log & exec amrun ...`, `amrun ... > >(tee log)` as the last command of a script). They are known
// by their numbers. What one of them starts later and leaves behind, the kernel hands to amrun like the orphan of a node.
#pragma once

#include <sys/types.h>

#include <vector>

namespace amrun {

class Leftovers {
 public:
  // From now on orphans among our descendants become our children. Before the first node is started.
  Leftovers();

  // A child was waited for: its number may become another process's.
  void collected(pid_t child);

  // Kills and collects every descendant but those that amrun had before. To be called when no node is left.
  void end() const;

 private:
  std::vector<pid_t> inherited_;
};

}  // namespace amrun
