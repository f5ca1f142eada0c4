// A gang: jobs on the same cores of this machine in turns (amrun --gang 50ms ./a : ./b). In its turn a job has the cores to itself; the
// others stand still as a whole. That is gang scheduling as the CM-5 had it, where a message that is under way stays with its job: here
// it lies in the job's own memory, or in its sockets.
//
// Each job has a process of amrun for itself, its keeper, forked when its first turn comes: so no job is disturbed by another's start,
// and orphans of a job are known to be its own. The keeper starts and watches its nodes as amrun does with a job that is alone
// (one_job.hpp). The head, which the user started, stops a job and lets it go on (whole_job.hpp); keepers are never stopped.
//
//   the end of a turn   The job is stopped, then the next one goes on. Where one job is left it is never stopped again.
//   the end of a job    The next one goes on at once. amrun's exit code is that of the first job that failed; the others go on.
//   a job that fails    Its keeper says so (State::ending) before it asks the nodes to end. From then on the job is not stopped: it has
//                       the second in which all jobs end (supervise.cpp), also while it is another one's turn. Whether it was just
//                       being stopped is looked at afterwards.
//   signals that end    INT, TERM, HUP and QUIT go to all jobs. All go on for a second, so that each hears it; whoever is left then takes
//                       turns again. Jobs that have not been started are not started. A second INT kills, as without a gang.
//   USR1, USR2          A job hears it in its turn.
//   TSTP, CONT          All jobs are stopped, then the head itself. The terminal continues nodes, which are in amrun's process group, by
//                       itself (fg): whose turn it is not is stopped again at once.
//   the head's death    (kill -9) A keeper gets a signal (PR_SET_PDEATHSIG) and kills its job, stopped or not. Where a keeper is killed, too,
//                       the nodes are killed by the kernel; what wrappers have started beside them stays, and may stay stopped.
//
// Deadlines of nodes and the watchdog count the time of the job (host/standstill.hpp). Count, which all nodes read, goes on, and timelets
// that come due meanwhile run at the beginning of the turn.
#pragma once

#include "amrun/job_end.hpp"
#include "amrun/options.hpp"

namespace amrun {

// `first`: with what stands behind its program's arguments. Throws Fault.
JobEnd run_gang(const Options& first);

}  // namespace amrun
