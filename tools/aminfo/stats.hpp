// aminfo --stats PID: the counters of a job that runs, read out of the memory that its nodes share.
#pragma once

#include <sys/types.h>

namespace aminfo {

// Prints the tables of every node of the job that process `pid` belongs to: one of its nodes, or its amrun. The job does
// not notice. Returns 0; throws am::Error when there is no such process, no job, or no permission.
int print_stats(pid_t pid);

}  // namespace aminfo
