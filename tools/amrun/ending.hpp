// What the end of one node means for the job, and the words for it. Pure.
#pragma once

#include <string>

#include "host/board.hpp"

namespace amrun {

// How far a node had come with its job when it ended.
using am::host::Standing;

// Whether a node with this status, as from waitpid, and this standing failed: everything but code 0 after the
// job was joined and left.
bool has_failed(int wait_status, Standing standing);

// amrun's exit code when this node is the first that failed.
int exit_code_for(int wait_status);

// "was killed by signal 9 (Killed)", "exited with code 0 before it joined the job".
std::string how_it_ended(int wait_status, Standing standing);

// Whether it ended well, and was none of the job: only where others join it is missing.
bool is_stranger(int wait_status, Standing standing);
// "nobody joined the job: "hostname" ends without a call of am::start".
std::string nobody_joined(const std::string& program);

}  // namespace amrun
