// The command line of amrun. Pure but for getopt's own state: main thread only.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "amrun/hosts.hpp"

namespace amrun {

enum class Bind { automatic, core, none };

struct Options {
  std::optional<am::NodeId> nodes;  // nothing: one per core that amrun may use
  Bind bind = Bind::automatic;
  bool report_bindings = false;
  bool label = false;
  std::uint64_t watchdog_ns = 0;       // 0: none
  std::uint64_t gang_ns = 0;           // how long a turn is; 0: this job is alone
  std::vector<HostShare> hosts;        // none: this machine
  std::vector<std::string> variables;  // NAME=value, or NAME
  std::string folder;                  // where nodes start; empty: where amrun does
  bool no_input = false;               // node 0 reads nothing either
  bool help = false;
  bool version = false;
  char** program = nullptr;  // name and arguments, ended by a null pointer; null with help and version only
};

// Options end at the first word that is none: what follows belongs to the program. Throws Fault
// (wrong_usage).
Options parse_options(int argc, char** argv);

// The jobs of a gang, one or more: `first`, whose program's arguments end at a word ":" (and are ended there), and what stands behind
// that, as amrun's arguments. Throws Fault (wrong_usage).
std::vector<Options> parse_gang(Options first);

const char* help_text();

}  // namespace amrun
