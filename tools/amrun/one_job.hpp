// A job on this machine, from its options to its end: the whole that amrun runs, or one job of a gang. Main thread only.
#pragma once

#include <functional>
#include <memory>

#include "amrun/job_end.hpp"
#include "amrun/options.hpp"
#include "host/memory.hpp"

namespace amrun {

// Of a job that takes turns with others (gang.hpp), in a process of its own.
struct GangPlace {
  unsigned number;  // from 1
  std::shared_ptr<am::host::Memory> memory;
  std::function<void()> started;  // told when all nodes are
  std::function<void()> ending;   // told before the nodes are asked to end
};

// Sets what the nodes find in their environment. Throws Fault.
void set_environment(const Options& options);

// Throws Fault. `gang`: null, or its place there.
JobEnd run_here(const Options& options, const GangPlace* gang);

}  // namespace amrun
