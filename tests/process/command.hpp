// Any command as a child of the test, run to its end, or beside the test, which speaks with it: what it wrote, and how it ended.
// The end of both of its streams also says that none of the processes that it started is left.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "process/roles.hpp"
#include "support/pinned.hpp"

namespace process_test {

/// Not how long anything may take, but when a test is sure to hang.
inline constexpr std::chrono::milliseconds hanging{120'000};

struct Outcome {
  int exit_code = -1;  ///< 128 + signal where a signal ended it; -1: had to be killed
  std::string out;
  std::string err;
};

struct Surroundings {
  std::vector<std::string> environment = {};  ///< NAME=value; nothing else begins with AM_ there
  std::function<void()> in_child = {};        ///< before the program is started
  bool input = false;                         ///< the test writes what it reads; else that is nothing
};

inline int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::ranges::sort(lines);
  return lines;
}

/// How it ended, and what is on standard error, and on standard output. The same again.
inline Outcome expect_end(Outcome outcome, const testing::Matcher<int>& exit_code,
                          const testing::Matcher<std::string>& err = testing::_,
                          const testing::Matcher<std::string>& out = testing::_) {
  EXPECT_THAT(outcome.exit_code, exit_code) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, err);
  EXPECT_THAT(outcome.out, out);
  return outcome;
}

/// It ended so with one line on standard error, and had printed nothing.
inline void expect_refusal(const Outcome& outcome, const testing::Matcher<int>& exit_code,
                           const testing::Matcher<std::string>& line) {
  expect_end(outcome, exit_code, line, testing::IsEmpty());
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
}

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

[[noreturn]] inline void become(std::vector<char*>& argv, const std::array<int, 3>& streams,
                                const Surroundings& surroundings) {
  for (int stream = 0; stream < 3; ++stream) dup2(streams[static_cast<std::size_t>(stream)], stream);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD, SIGPIPE}) signal(number, SIG_DFL);
  set_environment(surroundings);
  const int program = open(argv[0], O_PATH | O_CLOEXEC);
  if (surroundings.in_child) surroundings.in_child();
  setpgid(0, 0);  // or it has a session of its own
  execvp(argv[0], argv.data());
  if (errno == EACCES) fexecve(program, argv.data(), environ);  // a user who does not see its folder any more
  std::perror(argv[0]);
  _exit(127);
}

/// What a child writes into a pipe.
struct Stream {
  int fd = -1;
  std::string text{};

  void read_some() {
    std::array<char, 65536> buffer;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) return end();
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  void end() {
    if (fd >= 0) close(std::exchange(fd, -1));
  }
};

}  // namespace impl

/// Whether a process has ended, or does before the test is given up. Made while it is there.
class Watched : test::Pinned {
 public:
  explicit Watched(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    EXPECT_GE(fd_, 0) << "process " << pid << " is not there";
  }
  ~Watched() { close(fd_); }

  [[nodiscard]] bool ends() const {
    pollfd end{fd_, POLLIN, 0};
    return poll(&end, 1, static_cast<int>(hanging.count())) == 1;
  }

 private:
  int fd_;
};

/// A command that runs beside the test; ended with the object. Its output is read when the test asks for it: it waits when it has
/// written more than a pipe holds.
class Running : test::Pinned {
 public:
  explicit Running(const std::vector<std::string>& command, const Surroundings& surroundings = {})
      : name_(command[0]), pid_(start(command, surroundings)), process_(pid_) {}
  ~Running() {
    close_input();
    if (!reaped_) static_cast<void>(reap(true));
    out_.end();
    err_.end();
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  /// What has been read.
  [[nodiscard]] const std::string& out() const { return out_.text; }
  [[nodiscard]] const std::string& err() const { return err_.text; }
  /// Takes away what has been read.
  std::string take_out() { return std::exchange(out_.text, {}); }

  void write_input(std::string_view text) const {
    EXPECT_EQ(write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
  }
  void close_output() { out_.end(); }

  /// Reads until this has come so often on standard output, or on standard error; false where they end, or it takes too long.
  [[nodiscard]] bool prints(std::string_view part, int times = 1) {
    return reads({&out_, &err_}, [&] { return count(out(), part) >= times; });
  }
  [[nodiscard]] bool complains(std::string_view part, int times = 1) {
    return reads({&out_, &err_}, [&] { return count(err(), part) >= times; });
  }
  /// The same, while nobody reads standard output.
  [[nodiscard]] bool complains_unread(std::string_view part) {
    return reads({&err_}, [&] { return count(err(), part) >= 1; });
  }
  /// On one of both.
  [[nodiscard]] bool says(std::string_view part) {
    return reads({&out_, &err_}, [&] { return count(out(), part) + count(err(), part) >= 1; });
  }

  /// Waits for the end of both streams and of the process. As from waitpid; -1 where it had to be killed. Once.
  int status() {
    static_cast<void>(reads({&out_, &err_}, [] { return false; }));
    const bool ended = out_.fd < 0 && err_.fd < 0 && process_.ends();
    if (!ended)
      ADD_FAILURE() << name_ << " hangs, or somebody keeps its output open; so far:\n" << out() << err();
    const int status = reap(!ended);
    return ended ? status : -1;
  }
  int exit_code() {
    const int ended = status();
    if (ended < 0) return -1;
    return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
  }
  /// Of the whole run.
  [[nodiscard]] Outcome outcome() {
    const int code = exit_code();
    return {code, std::move(out_.text), std::move(err_.text)};
  }

 private:
  pid_t start(std::vector<std::string> command, const Surroundings& surroundings) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& ends : pipes) EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) impl::become(argv, {pipes[0][0], pipes[1][1], pipes[2][1]}, surroundings);
    for (const int its : {pipes[0][0], pipes[1][1], pipes[2][1]}) close(its);
    input_ = pipes[0][1];
    out_.fd = pipes[1][0];
    err_.fd = pipes[2][0];
    if (!surroundings.input) close_input();
    return pid;
  }

  /// False where all of these end before there is enough, or it takes too long.
  static bool reads(const std::vector<impl::Stream*>& streams, const std::function<bool()>& enough) {
    const auto end = std::chrono::steady_clock::now() + hanging;
    while (!enough()) {
      std::vector<pollfd> ready;
      for (const impl::Stream* stream : streams) ready.push_back({stream->fd, POLLIN, 0});
      if (std::ranges::all_of(streams, [](const impl::Stream* stream) { return stream->fd < 0; }))
        return false;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0 || poll(ready.data(), ready.size(), static_cast<int>(left.count())) <= 0)
        return false;
      for (std::size_t i = 0; i < streams.size(); ++i) {
        if (ready[i].revents != 0) streams[i]->read_some();
      }
    }
    return true;
  }

  int reap(bool must_end) {
    if (must_end) {
      kill(-pid_, SIGKILL);
      kill(pid_, SIGKILL);  // which may not have come to its group
    }
    int status = -1;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return status;
  }

  const std::string name_;
  int input_ = -1;
  impl::Stream out_, err_;
  const pid_t pid_;
  const Watched process_;
  bool reaped_ = false;
};

inline Outcome run(const std::vector<std::string>& command, const Surroundings& surroundings = {}) {
  return Running(command, surroundings).outcome();
}

/// A folder of the test's own, gone with the object.
class TemporaryFolder : test::Pinned {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "am_process_test_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder of the test's own");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // of what a killed one has left, somebody may still be at work
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string in(const std::string& file) const { return path_ / file; }

 private:
  std::filesystem::path path_;
};

/// A file in such a folder.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content,
                         std::filesystem::perms permissions = std::filesystem::perms::none) {
    std::ofstream(path(), std::ios::binary) << content;
    std::filesystem::permissions(path(), permissions, std::filesystem::perm_options::add);
  }
  [[nodiscard]] std::string folder() const { return folder_.path(); }
  [[nodiscard]] std::string path() const { return folder_.in("file"); }

 private:
  TemporaryFolder folder_;
};

inline const std::string amrun = AM_BIN_DIR "/amrun";
inline std::string example(const std::string& name) { return AM_BIN_DIR "/examples/" + name; }

}  // namespace process_test
