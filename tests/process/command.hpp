// Any command as a child of the test, run to its end: what it wrote, and how it ended. The end of both of its streams
// also says that none of the processes that it started is left.
//
// For jobs that the test speaks with while they run: process/amrun_job.hpp.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/roles.hpp"

namespace process_test {

/// Not how long anything may take, but when a test is sure to hang.
inline constexpr std::chrono::seconds hanging{120};

struct Outcome {
  int exit_code = -1;  ///< 128 + signal where a signal ended it; -1: had to be killed
  std::string out;
  std::string err;
};

struct Surroundings {
  std::vector<std::string> environment;  ///< NAME=value; nothing else begins with AM_ there
  std::function<void()> in_child;        ///< before the program is started
};

namespace impl {

inline void set_environment(const Surroundings& surroundings) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("AM_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  // NOLINTBEGIN(concurrency-mt-unsafe): a child that has one thread
  for (const std::string& name : names) unsetenv(name.c_str());
  for (const std::string& entry : surroundings.environment) {
    const std::size_t at = entry.find('=');
    setenv(entry.substr(0, at).c_str(), entry.c_str() + at + 1, 1);
  }
  // NOLINTEND(concurrency-mt-unsafe)
}

[[noreturn]] inline void become(std::vector<char*>& argv, const int out, const int err,
                                const Surroundings& surroundings) {
  setpgid(0, 0);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD, SIGPIPE}) signal(number, SIG_DFL);
  set_environment(surroundings);
  if (surroundings.in_child) surroundings.in_child();
  execvp(argv[0], argv.data());
  std::perror(argv[0]);
  _exit(127);
}

/// Reads both streams to their ends, or until there is enough; false when that takes too long.
inline bool read_all(std::array<int, 2> fds, std::array<std::string*, 2> texts,
                     const std::function<bool()>& enough) {
  const auto end = std::chrono::steady_clock::now() + hanging;
  while ((fds[0] >= 0 || fds[1] >= 0) && !enough()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    std::array<pollfd, 2> ready{{{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}}};
    if (left.count() <= 0 || poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0)
      return false;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = read(fds[i], buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        fds[i] = -1;
      }
    }
  }
  return true;
}

}  // namespace impl

/// A command that runs beside the test; ended with the object. Its output is read when the test asks for it: it waits when it has
/// written more than a pipe holds.
class Running {
 public:
  explicit Running(std::vector<std::string> command, const Surroundings& surroundings = {})
      : name_(command[0]) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(err.data(), O_CLOEXEC), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) impl::become(argv, out[1], err[1], surroundings);
    setpgid(pid_, pid_);  // as the child does, which may be ended before it comes to that
    close(out[1]);
    close(err[1]);
    fds_ = {out[0], err[0]};
  }
  ~Running() {
    if (pid_ > 0) static_cast<void>(end(false));
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Reads until this has come, on one of both streams; false where they end, or it takes too long.
  [[nodiscard]] bool says(std::string_view part) {
    const auto said = [&] {
      return outcome_.out.find(part) != std::string::npos || outcome_.err.find(part) != std::string::npos;
    };
    return impl::read_all(fds_, {&outcome_.out, &outcome_.err}, said) && said();
  }
  /// Of the whole run. Waits for its end.
  [[nodiscard]] Outcome outcome() {
    const bool ended = impl::read_all(fds_, {&outcome_.out, &outcome_.err}, [] { return false; });
    if (!ended)
      ADD_FAILURE() << name_ << " hangs, or somebody keeps its output open; so far:\n"
                    << outcome_.out << outcome_.err;
    return end(ended);
  }

 private:
  Outcome end(bool ended) {
    if (!ended) kill(-pid_, SIGKILL);
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    for (const int fd : fds_) close(fd);
    if (ended) outcome_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return std::move(outcome_);
  }

  const std::string name_;
  pid_t pid_ = -1;
  std::array<int, 2> fds_{};
  Outcome outcome_;
};

inline Outcome run(std::vector<std::string> command, const Surroundings& surroundings = {}) {
  return Running(std::move(command), surroundings).outcome();
}

inline int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

/// A file in a folder of its own, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content,
                         std::filesystem::perms permissions = std::filesystem::perms::none) {
    std::string folder = std::filesystem::temp_directory_path() / "am_process_test_XXXXXX";
    folder_ = mkdtemp(folder.data());
    std::ofstream(path(), std::ios::binary) << content;
    std::filesystem::permissions(path(), permissions, std::filesystem::perm_options::add);
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] std::string folder() const { return folder_; }
  [[nodiscard]] std::string path() const { return folder_ / "file"; }

 private:
  std::filesystem::path folder_;
};

inline const std::string amrun = AM_BIN_DIR "/amrun";
inline std::string example(const std::string& name) { return AM_BIN_DIR "/examples/" + name; }

}  // namespace process_test
