// Tests of amrun: amrun as a child of the test, and what the nodes of its jobs need.
//
// Nodes here only fill in their cards in the job's segment: what amrun looks at, and no more of libam than that.
#pragma once

#include <sched.h>
#include <signal.h>

#include "core/membership/standing.hpp"
#include "host/memory.hpp"
#include "process/command.hpp"

namespace amrun_test {

using process_test::Arguments;
using process_test::expect_end;
using process_test::lines_of;
using process_test::Outcome;
using process_test::Role;
using process_test::Surroundings;
using process_test::this_program;
using process_test::Watched;

/// One run of amrun, whose input the test writes.
class Amrun : public process_test::Running {
 public:
  explicit Amrun(const std::vector<std::string>& arguments, const Surroundings& surroundings = {})
      : Running(command(arguments),
                {.environment = surroundings.environment, .in_child = surroundings.in_child, .input = true}) {
  }

 private:
  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), process_test::amrun);
    return arguments;
  }
};

// This program as the program of a job: job({"-n", "2"}, {"hang"}).
inline std::vector<std::string> job(std::vector<std::string> options, const std::vector<std::string>& what) {
  options.push_back(this_program());
  options.emplace_back("--node");
  options.insert(options.end(), what.begin(), what.end());
  return options;
}

/// Runs it to its end.
inline Outcome run_job(const std::vector<std::string>& options, const std::vector<std::string>& what,
                       const Surroundings& surroundings = {}) {
  return Amrun(job(options, what), surroundings).outcome();
}

// What follows "pid " in each line that nodes have printed so.
inline std::vector<pid_t> pids_in(const std::string& text) {
  std::vector<pid_t> pids;
  for (std::size_t at = 0; (at = text.find("pid ", at)) != std::string::npos; at += 4) {
    pids.push_back(std::atoi(text.c_str() + at + 4));
  }
  return pids;
}

// The other side: a node.
class Node {
 public:
  Node()
      : rank_(number("AM_RANK")),
        size_(number("AM_SIZE")),
        memory_(am::host::Memory::open(static_cast<int>(number("AM_HOST_MEMORY_FD")))) {}

  [[nodiscard]] am::NodeId rank() const { return rank_; }
  [[nodiscard]] am::NodeId size() const { return size_; }
  [[nodiscard]] const am::host::Board& board() const { return memory_->board(); }
  [[nodiscard]] am::host::NodeCard& card() const { return board().card(rank_); }

  static Node joined() {
    Node node;
    node.join();
    return node;
  }
  void join(bool survives = false) const {
    card().pid = getpid();
    card().survives.store(survives ? 1 : 0);
    card().standing.store(static_cast<std::uint32_t>(am::host::Standing::joined));
    board().job().joined.fetch_add(1);
  }
  void wait_for_all() const {
    while (board().job().joined.load() < size_) sched_yield();
  }
  void leave() const { am::core::mark_left(board(), rank_); }

  // One line, in one write.
  static void print(const std::string& text) {
    const std::string line = text + "\n";
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, line.data(), line.size());
  }
  // Says that it is there, and stays until it is killed.
  [[noreturn]] static void hang() {
    print("pid " + std::to_string(getpid()));
    for (;;) pause();
  }

 private:
  static am::NodeId number(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr) throw std::runtime_error(std::string(name) + " is not set");
    return static_cast<am::NodeId>(std::stoul(text));
  }

  am::NodeId rank_;
  am::NodeId size_;
  std::shared_ptr<am::host::Memory> memory_;
};

/// What a node does between joining and leaving.
class JoinedRole : Role {
 public:
  template <class F>
  JoinedRole(const std::string& name, F play)
      : Role(name, [play] {
          const Node node = Node::joined();
          play(node);
          node.leave();
        }) {}
};

inline const Role hang("hang", [] {
  Node().join();
  Node::hang();
});

}  // namespace amrun_test
