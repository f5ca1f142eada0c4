// Starting a part of amrun on a host: directly where that is this one, else through an agent, which takes its arguments as Open MPI's
// launch agents do: the host, and then the words of a command for its shell. ssh is one.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>
#include <vector>

namespace amrun {

// The command that starts a part on another host. `agent`: a program and its options, as words for a shell; empty: ssh. `own_paths`:
// amrun's, of which one is good there, the first before the others. Throws Fault (wrong_usage).
std::vector<std::string> part_command(std::string_view agent, const std::string& host,
                                      const std::vector<std::string>& own_paths);

// A command under way, with the ends of pipes: to its standard input, from its standard output. Its standard error is ours. In a
// process group of its own, so that what the terminal sends comes to the head alone. `kept`: a descriptor that it inherits, or -1. Throws
// Fault.
struct Child {
  pid_t pid;
  int in;
  int out;
};
class Signals;
Child start_command(std::vector<std::string> command, int kept, const Signals& signals);

}  // namespace amrun
