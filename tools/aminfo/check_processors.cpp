// Which cores nodes may run on, whether they can be bound to them, and how much processor time they get.
#include <hwloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "aminfo/doctor.hpp"
#include "host/control_group.hpp"
#include "host/counted.hpp"

namespace aminfo {
namespace {

struct Topology {
  Topology() {
    setenv("HWLOC_HIDE_ERRORS", "2", 0);  // what it does not find, the findings say
    loaded = hwloc_topology_init(&handle) == 0 && hwloc_topology_load(handle) == 0;
  }
  ~Topology() {
    if (handle != nullptr) hwloc_topology_destroy(handle);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  int count(hwloc_obj_type_t type) const { return hwloc_get_nbobjs_by_type(handle, type); }

  hwloc_topology_t handle = nullptr;
  bool loaded = false;
};

std::string counted(int number, std::string_view noun) {
  return am::host::counted(static_cast<std::uint64_t>(number), noun);
}

Finding check_topology(const Topology& topology) {
  constexpr const char* subject = "cores";
  if (!topology.loaded || topology.count(HWLOC_OBJ_PU) <= 0) {
    return {Level::warn, subject, "hwloc does not see them: amrun cannot place nodes",
            "mount /sys in the container, or amrun --bind none"};
  }
  return {Level::ok, subject,
          counted(topology.count(HWLOC_OBJ_CORE), "core") + ", " +
              counted(topology.count(HWLOC_OBJ_PU), "hardware thread") + ", " +
              counted(topology.count(HWLOC_OBJ_NUMANODE), "memory node"),
          ""};
}

// The hardware threads of this process's mask, 0 where that cannot be found out. Sets the mask that is set
// already: allowed or not, nothing changes. Of this thread, the only one: that of a process is found by /proc, which may be
// missing, and amrun does without.
int try_binding(const Topology& topology) {
  if (!topology.loaded) return 0;
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> mask(hwloc_bitmap_alloc(),
                                                                       hwloc_bitmap_free);
  const bool allowed = hwloc_get_cpubind(topology.handle, mask.get(), HWLOC_CPUBIND_THREAD) == 0 &&
                       hwloc_set_cpubind(topology.handle, mask.get(), HWLOC_CPUBIND_THREAD) == 0;
  return allowed ? hwloc_bitmap_weight(mask.get()) : 0;
}

// As taskset takes them: "0-3", "4,6".
std::string numbers_of(const Topology& topology) {
  char text[4096];
  hwloc_bitmap_list_snprintf(text, sizeof text, hwloc_topology_get_topology_cpuset(topology.handle));
  return text;
}

Finding check_binding(const Topology& topology, int usable) {
  constexpr const char* subject = "binding";
  if (usable <= 0) {
    return {Level::warn, subject, "processes cannot be bound to cores",
            "amrun --bind none, or allow sched_setaffinity in the container"};
  }
  const int present = topology.count(HWLOC_OBJ_PU);
  if (usable < present) {
    return {Level::warn, subject,
            "allowed, but only to " + std::to_string(usable) + " of " + counted(present, "hardware thread") +
                ": more nodes than that take turns",
            "widen the mask of this shell: taskset -pc " + numbers_of(topology) + " $$"};
  }
  return {Level::ok, subject, "allowed, to any of " + counted(usable, "hardware thread"), ""};
}

Finding check_quota(int usable) {
  constexpr const char* subject = "processor time";
  const am::host::ControlGroup group = am::host::read_control_group();
  const auto quota = group.processors;
  if (!group.visible) {
    return {Level::warn, subject, "a quota could not be seen: /proc or /sys/fs/cgroup is missing here",
            "mount them in the container, or, where it has a quota, amrun --bind none"};
  }
  if (!quota) return {Level::ok, subject, "no quota", ""};
  char text[64];
  std::snprintf(text, sizeof text, "a quota of %.2f cores", *quota);
  if (*quota >= usable) return {Level::ok, subject, text, ""};
  return {
      Level::warn, subject,
      std::string(text) + " over " + counted(usable, "hardware thread") + ": more nodes than that take turns",
      "docker run --cpus=" + std::to_string(usable) + ", or fewer nodes"};
}

}  // namespace

std::vector<Finding> check_processors() {
  const Topology topology;
  const int usable = try_binding(topology);
  return {check_topology(topology), check_binding(topology, usable), check_quota(usable > 0 ? usable : 1)};
}

}  // namespace aminfo
