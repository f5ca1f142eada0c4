// The circumstances of a run that its figures depend on, for the head of the table and the JSON file.

#pragma once

#include <string>

namespace results {

struct Machine {
  std::string cpu;
  std::string kernel;
  std::string compiler;
  std::string build_type;
  int cores = 0;  // that the tool may use
  bool optimized = false;
};

Machine this_machine();

}  // namespace results
