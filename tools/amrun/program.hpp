// Which file is started: the search along PATH, and what is wrong with the file. Before any node is started,
// so that the usual mistakes cost one line and no process.
#pragma once

#include <string>

namespace amrun {

// As a shell would find it. Throws Fault (not_found or cannot_execute).
std::string find_program(const std::string& name);

}  // namespace amrun
