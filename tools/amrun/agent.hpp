// Starting a part of amrun on a host: directly where that is this one, else through an agent, which takes its arguments as Open MPI's
// launch agents do: the host, and then the words of a command for its shell. ssh is one.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>
#include <vector>

namespace amrun {

// The command that starts a part there. `agent`: a program and its options, between blanks; empty: ssh. `self`: amrun's own path,
// which is the same there.
std::vector<std::string> part_command(std::string_view agent, const std::string& host,
                                      const std::string& self);
// Whether the name is this host's own.
bool is_this_host(std::string_view name);
// As a shell takes it for one word.
std::string in_shell_quotes(std::string_view word);

// A command under way, with the ends of pipes: to its standard input, from its standard output. Its standard error is ours. In a
// process group of its own, so that what the terminal sends comes to the head alone. Throws Fault.
struct Child {
  pid_t pid;
  int in;
  int out;
};
class Signals;
Child start_command(std::vector<std::string> command, const Signals& signals);

}  // namespace amrun
