// Where measuring processes run: which processors may be used, one per core, and binding to one of them.
// amrun binds libam's own nodes; this is for the limits and for saying what happened.

#pragma once

#include <cstddef>
#include <vector>

namespace results {

// The first processor, of those in the mask of this process (taskset), of each core, in hwloc's order; never empty. It is the order
// in which amrun --bind core and mpirun --bind-to core place nodes.
std::vector<int> core_cpus();

// How many cores the machine, or the container, has. Handler threads may run on all of them, also where the mask of this
// process (taskset) holds fewer.
std::size_t machine_cores();

// How many processors this process may use.
int usable_cpus();

// Binds the calling thread. False where the kernel refuses.
bool pin_to(int cpu);

// The one processor that the calling thread is bound to, or -1.
int pinned_cpu();

}  // namespace results
