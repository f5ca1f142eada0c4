// How a program becomes a node of its job, and how a job of threads is made.
#pragma once

#include <am/node.hpp>
#include <functional>
#include <optional>
#include <vector>

namespace am {

/// What a program may decide about its node before it joins. Each overrides the setting of the same meaning.
struct Options {
  std::size_t segment_bytes = 0;  ///< size of the global memory segment; 0: as AM_SEGMENT says (64 MiB)
  std::optional<Dispatch> dispatch = {};  ///< how handlers run here; empty: as AM_DISPATCH says (poll)
  /// The handlers may interrupt the computation anywhere, also inside malloc: they neither allocate nor take a lock. Or the
  /// program includes am/safe_new.hpp, which says the same. Else AM_DISPATCH=interrupt is refused: it would break the heap.
  bool interrupt_safe = false;
};

/// Joins the job that this process was started in (by amrun, by mpirun or another PMIx launcher; alone: a job of one)
/// and returns when all its nodes have. The node lives until the process exits; then it leaves the job.
/// Throws am::Error with what failed and what to do. Once per process; call it in main (not in a static initialiser, where
/// handlers may be missing yet), on the thread that will use the node. argc and argv are left as they are.
/// From then on an exception that nobody catches ends the process with one line on standard error, which names the node, and
/// exit code 1; unless the program has set a terminate handler.
Node& start(int argc, char** argv, const Options& options = {});

/// Runs a job of n nodes as threads of this process: each runs main(node) on a thread of its own. Returns when all have
/// returned. The first exception that leaves a main is thrown here, after the others have ended; they find its node gone.
/// They share the globals of the process: what each node has for itself belongs into an object that main attaches to it.
/// Several such jobs may run at the same time; none in a static initialiser. Throws am::Error when the system has not so
/// many threads.
void run_threads(NodeId n, const std::function<void(Node&)>& main, const Options& options = {});

}  // namespace am
