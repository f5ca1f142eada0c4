// What nodes started and left behind: a job leaves no process, so it ends with them. Main thread only.
#pragma once

namespace amrun {

// From now on orphans among our descendants become our children.
void adopt_orphans();

// Kills and collects every descendant. To be called when no node is left.
void end_leftovers();

}  // namespace amrun
