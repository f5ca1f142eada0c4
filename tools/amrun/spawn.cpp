#include "amrun/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"

namespace amrun {
namespace {

constexpr std::size_t stack_bytes = std::size_t{32} << 10;

// A child runs in the memory of its parent, as after vfork, but on a stack of its own, so that the parent
// goes on to start the next one at once: nothing is copied, and 32 nodes take a third of the time that fork
// or vfork need. It changes nothing there but its own stack, its Trouble and, if a call fails, errno, whose
// value no call of the parent depends on once it has succeeded. Signals are blocked and amrun has no
// handlers.
//
// ThreadSanitizer keeps books in that memory which two processes would spoil, and valgrind ends a program that does this. There, and where the
// system offers no such child (make_child), it is one of fork.
bool may_share_memory() {
#ifdef __SANITIZE_THREAD__
  return false;
#else
  const char* const preloaded = std::getenv("LD_PRELOAD");  // as valgrind has it for what it runs
  return preloaded == nullptr || std::strstr(preloaded, "vgpreload") == nullptr;
#endif
}

void* shared_memory(std::size_t bytes, int sharing) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Fault(failed, std::string("no memory to start nodes: ") + std::strerror(errno));
  return memory;
}

}  // namespace

struct Spawner::Child {
  const Spawner* spawner;
  Trouble* trouble;
  const std::vector<unsigned long>* mask;  // null: not bound
  int descriptors[3];
  std::array<char, 32> rank;
  std::unique_ptr<char*[]> environment;
};

Spawner::Spawner(Program program, am::NodeId nodes, int memory_fd, bool must_bind, int input,
                 const Signals& signals)
    : program_(std::move(program)),
      signals_(signals),
      must_bind_(must_bind),
      memory_fd_(memory_fd),
      input_(input),
      null_fd_(open("/dev/null", O_RDONLY | O_CLOEXEC)),
      parent_(getpid()),
      shares_memory_(may_share_memory()),
      own_environment_{"AM_SIZE=" + std::to_string(nodes), "AM_HOST_MEMORY_FD=" + std::to_string(memory_fd)},
      children_(new Child[nodes]),
      nodes_(nodes),
      stacks_(static_cast<std::byte*>(shared_memory(nodes * stack_bytes, MAP_PRIVATE))),
      troubles_(static_cast<Trouble*>(shared_memory(nodes * sizeof(Trouble), MAP_SHARED))) {
  if (null_fd_ < 0) throw Fault(failed, "cannot open /dev/null: " + system_text(errno));
  getrlimit(RLIMIT_NOFILE, &files_);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!names_place(*entry)) environment_.push_back(*entry);
  }
  for (std::string& entry : own_environment_) environment_.push_back(entry.data());
}

Spawner::~Spawner() {
  munmap(troubles_, nodes_ * sizeof(Trouble));
  munmap(stacks_, nodes_ * stack_bytes);
  close(null_fd_);
}

pid_t Spawner::start(am::NodeId node, const Core* core, int out, int err) {
  Child& child = children_[node];
  child.spawner = this;
  child.trouble = &troubles_[node];
  child.mask = core != nullptr ? &core->mask : nullptr;
  child.descriptors[0] = node == 0 && input_ >= 0 ? input_ : null_fd_;
  child.descriptors[1] = out;
  child.descriptors[2] = err;
  const std::string rank = "AM_RANK=" + std::to_string(node);
  rank.copy(child.rank.data(), child.rank.size() - 1);
  child.rank[rank.size()] = '\0';
  child.environment.reset(new char*[environment_.size() + 2]);
  char** end = std::copy(environment_.begin(), environment_.end(), child.environment.get());
  *end++ = child.rank.data();
  *end = nullptr;

  const pid_t pid = make_child(child, stacks_ + (std::size_t{node} + 1) * stack_bytes);
  if (pid < 0) {
    const bool limited = errno == EAGAIN;
    throw Fault(
        cannot_execute,
        "cannot start node " + std::to_string(node) + " of " + std::to_string(nodes_) + ": " +
            std::strerror(errno) +
            (limited ? " (as many processes run as this user or container may have: ulimit -u)" : ""));
  }
  return pid;
}

// `stack`: its end. Returns what fork does, in the parent.
pid_t Spawner::make_child(Child& child, std::byte* stack) {
  if (shares_memory_) {
    const pid_t pid = clone(become_node, stack, CLONE_VM | SIGCHLD, &child);
    if (pid >= 0 || errno == EAGAIN || errno == ENOMEM) return pid;
    shares_memory_ = false;  // it is not offered, as where qemu emulates another processor
  }
  const pid_t pid = fork();
  if (pid == 0) _exit(become_node(&child));
  return pid;
}

// Returns the exit code of a child that does not get to be the program.
int Spawner::become_node(void* argument) {
  const Child& child = *static_cast<const Child*>(argument);
  const Spawner& spawner = *child.spawner;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != spawner.parent_) return cannot_execute;  // amrun ended before the line above
  for (int to = 0; to < 3; ++to) {
    if (child.descriptors[to] != to) dup2(child.descriptors[to], to);
  }
  fcntl(spawner.memory_fd_, F_SETFD, 0);
  setrlimit(RLIMIT_NOFILE, &spawner.files_);
  // Past 1024 processors cpu_set_t is too small: the system call takes any length.
  if (child.mask != nullptr &&
      syscall(SYS_sched_setaffinity, 0, child.mask->size() * sizeof(unsigned long), child.mask->data()) !=
          0 &&
      spawner.must_bind_) {
    *child.trouble = {Trouble::Step::bind, errno};
    return cannot_execute;
  }
  spawner.signals_.restore_in_node();
  execve(spawner.program_.path.c_str(), spawner.program_.arguments, child.environment.get());
  *child.trouble = {Trouble::Step::execute, errno};
  return cannot_execute;
}

Trouble Spawner::trouble(am::NodeId node) const noexcept { return troubles_[node]; }

std::string Spawner::describe(Trouble trouble) const {
  if (trouble.step == Trouble::Step::bind) {
    return std::string("cannot bind nodes to cores: ") + std::strerror(trouble.error) +
           " (--bind none does without)";
  }
  std::string text =
      "cannot start " + am::core::in_quotes(program_.path) + ": " + std::strerror(trouble.error);
  if (trouble.error == ENOEXEC) text += " (a script begins with a line like #!/bin/sh)";
  if (trouble.error == ENOENT) text += " (the interpreter that the file names is not there)";
  return text;
}

}  // namespace amrun
