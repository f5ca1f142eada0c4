#include "results/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace results {

namespace {

constexpr double default_deadline_ns = 120e9;

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::runtime_error system_error(const std::string& what) {
  return std::runtime_error(what + ": " + std::strerror(errno));
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         int output_fd, Errors errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd >= 0) dup2(null_fd, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  if (errors == Errors::collected) dup2(output_fd, STDERR_FILENO);
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  dprintf(STDERR_FILENO, "cannot start %s: %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

}  // namespace

std::string Finished::how_it_ended() const {
  if (timed_out) return "took too long and was killed";
  std::string said;
  std::istringstream lines(output);
  for (std::string line; said.empty() && std::getline(lines, line);) {
    const bool empty = line.find_first_not_of(" -*\t\r") == std::string::npos;
    if (!empty && !line.starts_with("figure ") && !line.starts_with("cpu ")) said = line;
  }
  const std::string code = exit_code > 128 ? std::string("ended by signal ") + strsignal(exit_code - 128)
                                           : "exit code " + std::to_string(exit_code);
  return said.empty() ? code : code + ": " + said;
}

Figures Finished::figures() const {
  Figures found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    double value = 0;
    if (words >> kind >> name >> value && kind == "figure") found[name] = value;
  }
  return found;
}

std::vector<int> Finished::cpus() const {
  std::vector<int> found{-1, -1};
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::size_t node = 0;
    int cpu = -1;
    if (words >> kind >> node >> cpu && kind == "cpu" && node < found.size()) found[node] = cpu;
  }
  return found;
}

Subprocess::Subprocess(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                       Errors errors)
    : start_ns_(now_ns()) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot open a pipe to " + command.front());
  pid_ = fork();
  if (pid_ == 0) become(command, environment, ends[1], errors);
  close(ends[1]);
  output_fd_ = ends[0];
  if (pid_ < 0) throw system_error("cannot start " + command.front());
  setpgid(pid_, pid_);
}

Subprocess::~Subprocess() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    reap();
  }
  if (output_fd_ >= 0) close(output_fd_);
}

void Subprocess::reap() {
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool Subprocess::running() {
  if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

// False when every writer has closed the pipe.
bool Subprocess::read_some(double wait_ns) {
  pollfd waiting{output_fd_, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(wait_ns / 1e6) + 1);
  if (ready <= 0) return true;
  std::array<char, 4096> buffer{};
  const ssize_t got = read(output_fd_, buffer.data(), buffer.size());
  if (got > 0) output_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

Finished Subprocess::wait(double deadline_ns) {
  Finished finished;
  const double end_ns = start_ns_ + deadline_ns;
  while (read_some(end_ns - now_ns())) {
    if (now_ns() < end_ns) continue;
    finished.timed_out = true;
    kill(-pid_, SIGKILL);
    break;
  }
  if (pid_ > 0) reap();
  finished.wall_ns = now_ns() - start_ns_;
  finished.exit_code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  finished.output = std::move(output_);
  return finished;
}

Finished run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
             Errors errors) {
  return Subprocess(command, environment, errors).wait(default_deadline_ns);
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace results
