// The cores of this machine that amrun may use, as hwloc and the kernel know them.
#pragma once

#include <vector>

#include "amrun/place.hpp"

namespace amrun {

// How many processors (hardware threads) this process may run on: at least as many as it has cores. One
// system call, where usable_cores reads dozens of files.
std::size_t usable_processors();

// In hwloc's logical order, so that neighbours share caches and memory; no core whose processors are all
// forbidden by the affinity or cpuset of this process. Empty where hwloc does not see the machine. Main
// thread only: it changes the environment and puts it back.
std::vector<Core> usable_cores();

}  // namespace amrun
