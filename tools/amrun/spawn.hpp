// Starting the processes of a job: fast, and so that none of them outlives amrun.
//
// A node is a direct child of amrun's main thread, which is its only parent in the kernel's eyes: when amrun
// ends, also by kill -9, the kernel kills it (PR_SET_PDEATHSIG). Main thread only.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <am/types.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "amrun/place.hpp"
#include "amrun/signals.hpp"

namespace amrun {

// What kept a child from becoming the program.
struct Trouble {
  enum class Step : int { none, bind, execute };
  Step step;
  int error;  // errno
};

struct Program {
  std::string path;
  char** arguments;
};

class Spawner {
 public:
  // `nodes`: of the whole job. `core` of a node as in start(); with `must_bind` a node that cannot be bound is not started. `input`:
  // node 0's standard input; -1: nothing.
  Spawner(Program program, am::NodeId nodes, int memory_fd, bool must_bind, int input,
          const Signals& signals);
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Starts a node; `core` null: not bound. `out` and `err` are its standard output and error. Each node once.
  // Throws Fault when the machine gives no further process.
  pid_t start(am::NodeId node, const Core* core, int out, int err);

  [[nodiscard]] const std::string& program() const noexcept { return program_.path; }
  // Of a child that has ended.
  [[nodiscard]] Trouble trouble(am::NodeId node) const noexcept;
  // The words for it: "cannot start ./x: Exec format error".
  [[nodiscard]] std::string describe(Trouble trouble) const;

 private:
  struct Child;
  pid_t make_child(Child& child, std::byte* stack);
  static int become_node(void* child);

  Program program_;
  const Signals& signals_;
  bool must_bind_;
  int memory_fd_;
  int input_;
  int null_fd_;
  pid_t parent_;
  rlimit files_;
  bool shares_memory_;                        // a child does with this process, until it is the program
  std::vector<std::string> own_environment_;  // AM_SIZE, AM_HOST_MEMORY_FD
  std::vector<char*> environment_;            // of every node: without its AM_RANK and the null pointer
  std::unique_ptr<Child[]> children_;
  am::NodeId nodes_;
  std::byte* stacks_;
  Trouble* troubles_;  // by node; shared memory, the child writes
};

}  // namespace amrun
