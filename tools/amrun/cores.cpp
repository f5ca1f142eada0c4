#include "amrun/cores.hpp"

#include <hwloc.h>
#include <sched.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace amrun {
namespace {

// An environment variable that has another value for a while.
class Overridden {
 public:
  Overridden(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ~Overridden() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Overridden(const Overridden&) = delete;
  Overridden& operator=(const Overridden&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;

// Cores and processors, and nothing else: what amrun does not look for must not cost every job milliseconds.
Topology load_topology() {
  // Plugins look for graphics and PCI devices; Debian's drag in OpenCL and X11. Only the environment keeps
  // them out.
  const Overridden no_plugins("HWLOC_PLUGINS_PATH", "/dev/null");
  // What hwloc does not find (a sandbox without /sys) is our business to say, where it matters.
  std::optional<Overridden> quiet;
  if (std::getenv("HWLOC_HIDE_ERRORS") == nullptr) quiet.emplace("HWLOC_HIDE_ERRORS", "2");
  hwloc_topology_t handle = nullptr;
  if (hwloc_topology_init(&handle) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(handle, hwloc_topology_destroy);
  hwloc_topology_set_components(handle, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                "x86");  // visits every core
  hwloc_topology_set_all_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(handle, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  constexpr unsigned long flags =
      HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |
      HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
  if (hwloc_topology_set_flags(handle, flags) != 0 || hwloc_topology_load(handle) != 0) topology.reset();
  return topology;
}

Core describe(const hwloc_obj& core) {
  Core described;
  const int words = hwloc_bitmap_nr_ulongs(core.cpuset);
  if (words <= 0) return described;
  described.mask.resize(static_cast<std::size_t>(words));
  hwloc_bitmap_to_ulongs(core.cpuset, static_cast<unsigned>(words), described.mask.data());

  char processors[256];
  hwloc_bitmap_list_snprintf(processors, sizeof processors, core.cpuset);
  const bool several = hwloc_bitmap_weight(core.cpuset) > 1;
  described.name = "core " + std::to_string(core.logical_index) +
                   (several ? " (processors " : " (processor ") + processors + ")";
  return described;
}

}  // namespace

std::size_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More than 1024 processors do not fit: then there are enough.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return CPU_SETSIZE;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

std::vector<Core> usable_cores() {
  std::vector<Core> cores;
  const Topology topology = load_topology();
  if (topology == nullptr) return cores;
  // Some virtual machines show processors and no cores.
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
    Core described = describe(*core);
    if (!described.mask.empty()) cores.push_back(std::move(described));
  }
  return cores;
}

}  // namespace amrun
