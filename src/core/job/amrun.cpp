// The job that amrun started: it made the board, we inherit the descriptor.
//
// A node must not outlive amrun, also when amrun is killed with SIGKILL. amrun asks the kernel for that (the
// parent death signal) before it runs the program, and the wish survives exec; but it holds for amrun's own
// children, and with
//
//     amrun -n 4 sh -c './app; echo done'
//
// the node is a child of the shell. So every node asks for itself: when amrun dies the shell is killed, and
// its death kills the node. A wrapper that execs the program (`exec ./app`, env, taskset, valgrind) leaves it
// amrun's child, and then nothing changes here. It follows, and is meant, that a node does not outlive its
// wrapper (amrun takes the end of the wrapper for the end of the node anyway).
//
// The kernel counts threads, not processes, as parents: a node whose wrapper started it in a thread that ends would be killed with
// that. So it asks for this only where the wrapper has one thread. In other cases, and where two processes lie in between (the shell runs
// `timeout 60 ./app`), so that the death of the first is no matter to the second, the node looks itself
// (core/membership/launcher_watch.hpp).
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <am/error.hpp>
#include <csignal>
#include <string>

#include "core/job/ways.hpp"
#include "host/counted.hpp"
#include "host/pid_namespace.hpp"

namespace am::core {

namespace {

std::string place(const Settings& settings) {
  return "AM_RANK=" + std::to_string(settings.rank) + ", AM_SIZE=" + std::to_string(settings.size) +
         ", AM_HOST_MEMORY_FD=" + std::to_string(settings.memory_fd);
}

constexpr const char* alone_remedy =
    "start the program with amrun -n N; to run it alone unset AM_RANK, AM_SIZE and AM_HOST_MEMORY_FD";

std::shared_ptr<host::Memory> open_memory(const Settings& settings) {
  if (settings.rank < 0 || settings.size <= 0) {
    throw Error("join the job", "AM_HOST_MEMORY_FD is set but AM_RANK and AM_SIZE are not", alone_remedy);
  }
  if (fcntl(settings.memory_fd, F_GETFD) < 0) {
    throw Error("join the job", place(settings),
                "no such descriptor is open: either a node of the job started this program, or a wrapper "
                "closes what it "
                "inherits (Python's subprocess does, unless close_fds=False)",
                alone_remedy);
  }
  std::shared_ptr<host::Memory> memory = host::Memory::open(settings.memory_fd);
  if (memory->nodes() != static_cast<NodeId>(settings.size)) {
    throw Error("join the job", place(settings),
                "the shared memory is that of a job of " + host::counted(memory->nodes(), "node"),
                alone_remedy);
  }
  const auto id = static_cast<NodeId>(settings.rank);
  const host::Standing standing = memory->board().standing(id);
  if (memory->board().is_alive(id)) {
    throw Error("join the job", place(settings),
                "node " + std::to_string(id) + " is running already, as process " +
                    std::to_string(memory->board().card(id).pid) + ": this is a second program in its place",
                "start one process per node; a program that a node starts must not inherit AM_RANK");
  }
  if (standing != host::Standing::absent) {
    throw Error("join the job", place(settings),
                "node " + std::to_string(id) + " has run already, as process " +
                    std::to_string(memory->board().card(id).pid) + ", and cannot begin anew",
                "a wrapper that runs two programs one after the other needs an amrun for each");
  }
  return memory;
}

/// Where /proc does not show it, or shows the process of that number in another PID namespace, it has not, or may seem to.
bool has_one_thread(pid_t process) {
  struct stat threads {};
  constexpr nlink_t links_of_a_folder = 2;  // besides those of the folders within
  return stat(("/proc/" + std::to_string(process) + "/task").c_str(), &threads) == 0 &&
         threads.st_nlink == links_of_a_folder + 1;
}

void die_with_parent(const host::Board& board) {
  int signal = 0;
  if (prctl(PR_GET_PDEATHSIG, &signal) == 0 && signal != 0) return;  // amrun's wish, or the program's own
  const pid_t parent = getppid();
  if (has_one_thread(parent)) prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The signal is sent when the parent dies from now on. One that died before is seen by the new parent, or, where it
  // had died before we asked for our parent at all, by amrun's life lock: amrun's death is what kills a wrapper.
  if (getppid() != parent || board.launcher_has_ended()) {
    throw Error("join the job", "the launcher ended while this node was starting", "start the job again");
  }
}

bool is_child_of_launcher(const host::JobHeader& job) {
  return getppid() == job.launcher &&
         host::same_pid_namespace(job.launcher_pid_namespace, host::own_pid_namespace());
}

}  // namespace

Job join_amrun(const Settings& settings) {
  Job job;
  job.memory = open_memory(settings);
  die_with_parent(job.memory->board());
  job.id = static_cast<NodeId>(settings.rank);
  job.size = job.memory->nodes();
  job.found = "amrun";
  job.child_of_launcher = is_child_of_launcher(job.memory->board().job());
  return job;
}

}  // namespace am::core
