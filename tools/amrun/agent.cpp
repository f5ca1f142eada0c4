#include "amrun/agent.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>

#include "amrun/fault.hpp"
#include "amrun/part.hpp"
#include "amrun/signals.hpp"
#include "host/descriptor.hpp"

namespace amrun {

std::string in_shell_quotes(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted += "'";
}

bool is_this_host(std::string_view name) {
  char own[256] = {};
  if (gethostname(own, sizeof own - 1) != 0) return name == "localhost";
  const std::string_view full = own;
  return name == "localhost" || name == full || name == full.substr(0, full.find('.'));
}

std::vector<std::string> part_command(std::string_view agent, const std::string& host,
                                      const std::string& self) {
  if (is_this_host(host)) return {self, part_option};
  std::istringstream words{std::string(agent.empty() ? "ssh" : agent)};
  std::vector<std::string> command(std::istream_iterator<std::string>(words), {});
  if (command.empty()) command.emplace_back("ssh");
  command.push_back(host);
  command.push_back(in_shell_quotes(self));
  command.emplace_back(part_option);
  return command;
}

Child start_command(std::vector<std::string> command, const Signals& signals) {
  using am::host::Descriptor;
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0) throw Fault(failed, "cannot make a pipe: " + system_text(errno));
  const Descriptor to_end(to[0]);
  Descriptor to_begin(to[1]);
  if (pipe2(from, O_CLOEXEC) != 0) throw Fault(failed, "cannot make a pipe: " + system_text(errno));
  Descriptor from_end(from[0]);
  const Descriptor from_begin(from[1]);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw Fault(cannot_execute, "cannot start " + command[0] + ": " + system_text(errno));
  if (pid == 0) {
    setpgid(0, 0);
    dup2(to_end.get(), STDIN_FILENO);
    dup2(from_begin.get(), STDOUT_FILENO);
    signals.restore_in_node();
    execvp(arguments[0], arguments.data());
    const int error = errno;
    const std::string line = "amrun: cannot start " + command[0] + ": " + std::strerror(error) + "\n";
    static_cast<void>(write(STDERR_FILENO, line.data(), line.size()));
    _exit(error == ENOENT ? not_found : cannot_execute);
  }
  setpgid(pid, pid);  // as the child does, which may be ended before it comes to that
  return {pid, to_begin.release(), from_end.release()};
}

}  // namespace amrun
