// What stops amrun before or while it starts a job: one line for the user, and the exit code.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace amrun {

// Exit codes of amrun itself, as shells have them; else it ends with the code of the first node that failed.
inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;  // 128 + signal

class Fault : public std::runtime_error {
 public:
  // `line` is what the user reads, without "amrun: " and without a line end.
  Fault(int exit_code, const std::string& line) : std::runtime_error(line), exit_code_(exit_code) {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// What a system call failed with and, where a limit is to blame, its cure: "Too many open files (raise ulimit -n)".
inline std::string system_text(int error) {
  return std::strerror(error) + std::string(error == EMFILE ? " (raise ulimit -n)" : "");
}

}  // namespace amrun
