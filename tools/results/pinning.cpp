#include "results/pinning.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace results {

namespace {

// The first processor of each core, in hwloc's order.
std::vector<int> first_cpus(unsigned long flags) {
  std::vector<int> cpus;
  hwloc_topology_t topology = nullptr;
  setenv("HWLOC_HIDE_ERRORS", "2", 0);  // without /sys it complains, and works all the same
  if (hwloc_topology_init(&topology) != 0) return cpus;
  if (hwloc_topology_set_flags(topology, flags) == 0 && hwloc_topology_load(topology) == 0) {
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < cores; ++i) {
      hwloc_obj* const core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
      const int cpu = hwloc_bitmap_first(core->cpuset);
      if (cpu >= 0) cpus.push_back(cpu);
    }
  }
  hwloc_topology_destroy(topology);
  return cpus;
}

}  // namespace

std::vector<int> core_cpus() {
  std::vector<int> cpus =
      first_cpus(HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (cpus.empty()) cpus.push_back(sched_getcpu());
  return cpus;
}

std::size_t machine_cores() { return std::max<std::size_t>(first_cpus(0).size(), 1); }

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

int pinned_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) return -1;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) return static_cast<int>(cpu);
  }
  return -1;
}

}  // namespace results
