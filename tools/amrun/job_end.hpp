// How a job ended, and how amrun ends by it.
#pragma once

#include <functional>

namespace amrun {

struct JobEnd {
  int exit_code;
  int by_signal;  // that amrun got and the job ended by, or 0
};

// Runs it, and returns the exit code for it. What is thrown is said in one line. Where SIGINT ended the job it ends this process, too.
int end_by(const std::function<JobEnd()>& run);

}  // namespace amrun
