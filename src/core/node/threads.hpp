// Nodes as threads of one process: what am::run_threads and tests of several hosts have in common.
#pragma once

#include <functional>
#include <vector>

#include "core/job/job.hpp"
#include "core/settings/settings.hpp"

namespace am::core {

/// Runs `main` on each of a job's nodes, a thread each, and returns when all have ended. Throws what am::run_threads throws.
void run_jobs(std::vector<Job> jobs, const Settings& settings, const std::function<void(Node&)>& main);

}  // namespace am::core
