#include "amrun/agent.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "amrun/fault.hpp"
#include "amrun/part.hpp"
#include "amrun/shell_words.hpp"
#include "amrun/signals.hpp"
#include "host/descriptor.hpp"

namespace amrun {
namespace {

std::vector<std::string> words_of_agent(std::string_view agent) {
  try {
    return shell_words(agent.empty() ? "ssh" : agent);
  } catch (const Fault& fault) {
    throw Fault(fault.exit_code(), std::string("AM_AGENT: ") + fault.what());
  }
}

}  // namespace

std::vector<std::string> part_command(std::string_view agent, const std::string& host,
                                      const std::vector<std::string>& own_paths) {
  std::vector<std::string> command = words_of_agent(agent);
  if (command.empty()) command.emplace_back("ssh");
  command.push_back(host);
  if (own_paths.size() == 1) {
    command.push_back(in_shell_quotes(own_paths[0]));
    command.emplace_back(part_option);
    return command;
  }
  std::string script;
  for (const std::string& path : own_paths) {
    const std::string quoted = in_shell_quotes(path);
    script += "test -x " + quoted + " && exec " + quoted + " " + part_option + "; ";
  }
  // None: the shell says so.
  script += "exec " + in_shell_quotes(own_paths.front()) + " " + part_option;
  command.insert(command.end(), {"sh", "-c", in_shell_quotes(script)});
  return command;
}

Child start_command(std::vector<std::string> command, int kept, const Signals& signals) {
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
    if (kept >= 0) fcntl(kept, F_SETFD, 0);
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
