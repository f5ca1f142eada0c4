// The environment that nodes get from amrun, as far as libam reads it. Pure, but for set_variable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amrun {

// Whether an entry (NAME=value) gives a node its place in a job, which amrun does. In a job inside a job those of the outer
// one are none of the inner one's business.
bool names_place(std::string_view entry);

// NAME=value, for this process and the nodes; NAME alone changes nothing here.
void set_variable(const std::string& variable);

// What nodes on other hosts get of this environment: libam's settings, and `variables` (NAME=value, or NAME).
std::vector<std::string> variables_for_hosts(const char* const* environment,
                                             const std::vector<std::string>& variables);

// Reads the settings as every node will, so that a malformed one costs one line and no process. Throws Fault (wrong_usage).
void check_settings(const char* const* environment);

}  // namespace amrun
