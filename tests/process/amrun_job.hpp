// Tests of amrun: amrun as a child of the test, and what the nodes of its jobs need.
//
// Nodes here only fill in their cards in the job's segment: what amrun looks at, and no more of libam than
// that.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/membership/standing.hpp"
#include "host/memory.hpp"
#include "process/roles.hpp"

namespace amrun_test {

using process_test::Arguments;
using process_test::Roles;
using process_test::this_program;

// Not how long anything may take, but when a test is sure to hang.
constexpr std::chrono::seconds hanging{60};

class Deadline {
 public:
  [[nodiscard]] int left_ms() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + hanging;
};

// Whether a process has ended, or does before the test is given up. Made while it runs.
class Watched {
 public:
  explicit Watched(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    EXPECT_GE(fd_, 0) << "process " << pid << " is not there";
  }
  ~Watched() { close(fd_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  [[nodiscard]] bool ends() const {
    pollfd end{fd_, POLLIN, 0};
    return poll(&end, 1, Deadline().left_ms()) == 1;
  }

 private:
  int fd_;
};

// One run of amrun. Its output is collected; the end of both streams also says that no process has them open
// any more.
class Amrun {
 public:
  explicit Amrun(std::vector<std::string> arguments, const std::function<void()>& in_child = {}) {
    arguments.insert(arguments.begin(), AM_BIN_DIR "/amrun");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int pipes[3][2];
    for (auto& ends : pipes) EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(pipes[0][0], STDIN_FILENO);
      dup2(pipes[1][1], STDOUT_FILENO);
      dup2(pipes[2][1], STDERR_FILENO);
      // Background jobs of shells ignore SIGINT and SIGQUIT.
      for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD, SIGPIPE}) ::signal(number, SIG_DFL);
      if (in_child) in_child();
      execv(argv[0], argv.data());
      std::perror(argv[0]);
      _exit(99);
    }
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    input_ = pipes[0][1];
    out_.fd = pipes[1][0];
    err_.fd = pipes[2][0];
  }
  ~Amrun() {
    close_input();
    close_output();
    if (err_.fd >= 0) close(err_.fd);
    if (pid_ > 0 && !reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Amrun(const Amrun&) = delete;
  Amrun& operator=(const Amrun&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& out() const { return out_.text; }
  [[nodiscard]] const std::string& err() const { return err_.text; }
  void signal(int number) const { kill(pid_, number); }

  void write_input(std::string_view text) const {
    EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
  }
  void close_output() {
    if (out_.fd >= 0) close(std::exchange(out_.fd, -1));
  }

  // Read until the text has come so many times on standard output, or on standard error. False at the end of
  // it.
  [[nodiscard]] bool prints(std::string_view text, int times = 1) {
    return reads({&out_, &err_}, out_, text, times);
  }
  [[nodiscard]] bool complains(std::string_view text, int times = 1) {
    return reads({&out_, &err_}, err_, text, times);
  }
  // The same, while nobody reads standard output.
  [[nodiscard]] bool complains_unread(std::string_view text) { return reads({&err_}, err_, text, 1); }
  // Takes what has been read away.
  std::string take_out() { return std::exchange(out_.text, {}); }

  // Reads to the end of both streams and waits. The status is as from waitpid; -1 when amrun had to be
  // killed.
  int status() {
    while ((out_.fd >= 0 || err_.fd >= 0) && read_some({&out_, &err_})) {
    }
    if (!Watched(pid_).ends() || timed_out_) {
      kill(pid_, SIGKILL);
      ADD_FAILURE() << "amrun hangs, or somebody keeps its output open; so far:\n" << out_.text << err_.text;
    }
    int status = -1;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return timed_out_ ? -1 : status;
  }
  // 128 + signal where a signal ended it.
  int exit_code() {
    const int ended = status();
    return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
  }

 private:
  struct Stream {
    int fd = -1;
    std::string text;
  };

  bool reads(const std::vector<Stream*>& streams, const Stream& wanted, std::string_view text, int times) {
    for (;;) {
      int found = 0;
      for (std::size_t at = 0; (at = wanted.text.find(text, at)) != std::string::npos; at += text.size())
        ++found;
      if (found >= times) return true;
      if (wanted.fd < 0 || !read_some(streams)) return false;
    }
  }

  bool read_some(const std::vector<Stream*>& streams) {
    std::vector<pollfd> ready;
    ready.reserve(streams.size());
    for (const Stream* stream : streams) ready.push_back({stream->fd, POLLIN, 0});
    if (poll(ready.data(), ready.size(), Deadline().left_ms()) <= 0) {
      timed_out_ = true;
      return false;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (ready[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t got = read(streams[i]->fd, buffer, sizeof buffer);
      if (got > 0) {
        streams[i]->text.append(buffer, static_cast<std::size_t>(got));
      } else {
        close(std::exchange(streams[i]->fd, -1));
      }
    }
    return true;
  }

  pid_t pid_ = -1;
  int input_ = -1;
  Stream out_, err_;
  bool reaped_ = false;
  bool timed_out_ = false;
};

// This program as the program of a job: job({"-n", "2"}, {"hang"}).
inline std::vector<std::string> job(std::vector<std::string> options, const std::vector<std::string>& what) {
  options.push_back(this_program());
  options.emplace_back("--node");
  options.insert(options.end(), what.begin(), what.end());
  return options;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
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

inline int hang(const Arguments&) {
  Node().join();
  Node::hang();
}
inline const Roles roles = {{"hang", hang}};

}  // namespace amrun_test
