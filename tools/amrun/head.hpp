// The head of a job on several hosts: the amrun that the user started. It starts a part on each host, tells it which nodes it has,
// brings what the nodes tell each other at their start from host to host, and writes what they write; when a part fails it ends the
// others. It runs no node itself.
#pragma once

#include "amrun/job_end.hpp"
#include "amrun/options.hpp"

namespace amrun {

// Throws Fault.
JobEnd run_head(const Options& options);

}  // namespace amrun
