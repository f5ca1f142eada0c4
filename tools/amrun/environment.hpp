// The environment that nodes get from amrun, as far as libam reads it. Pure.
#pragma once

#include <string_view>

namespace amrun {

// Whether an entry (NAME=value) gives a node its place in a job, which amrun does. In a job inside a job those of the outer
// one are none of the inner one's business.
bool names_place(std::string_view entry);

// Reads the settings as every node will, so that a malformed one costs one line and no process. Throws Fault (wrong_usage).
void check_settings(const char* const* environment);

}  // namespace amrun
