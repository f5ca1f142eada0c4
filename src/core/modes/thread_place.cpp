#include "core/modes/thread_place.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <algorithm>
#include <bitset>
#include <cstring>
#include <vector>

namespace am::core {

namespace {

using Cpus = std::bitset<1024>;

Cpus read_cpus(const std::uint64_t (&words)[16]) noexcept {
  Cpus cpus;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu] = (words[cpu / 64] >> (cpu % 64) & 1) != 0;
  return cpus;
}

Cpus cpus_of(const host::NodeCard& card) noexcept { return read_cpus(card.cpus); }

/// The few functions of hwloc that are needed, from the library as this machine has it: only a node with a handler thread
/// pays for loading it.
class Hwloc {
 public:
  Hwloc() : library_(dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    usable_ = find(init, "hwloc_topology_init") && find(load, "hwloc_topology_load") &&
              find(destroy, "hwloc_topology_destroy") && find(depth_of, "hwloc_get_type_depth") &&
              find(object_at, "hwloc_get_obj_by_depth") &&
              find(allowed, "hwloc_topology_get_allowed_cpuset") && find(is_set, "hwloc_bitmap_isset");
  }
  ~Hwloc() {
    if (library_ != nullptr) dlclose(library_);
  }
  Hwloc(const Hwloc&) = delete;
  Hwloc& operator=(const Hwloc&) = delete;
  [[nodiscard]] bool usable() const noexcept { return usable_; }

  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_get_type_depth) depth_of = nullptr;
  decltype(&hwloc_get_obj_by_depth) object_at = nullptr;
  decltype(&hwloc_topology_get_allowed_cpuset) allowed = nullptr;
  decltype(&hwloc_bitmap_isset) is_set = nullptr;

 private:
  template <class F>
  bool find(F& f, const char* name) noexcept {
    f = reinterpret_cast<F>(dlsym(library_, name));
    return f != nullptr;
  }

  void* library_;
  bool usable_ = false;
};

/// One processor of the machine, and what it shares with others.
struct Processor {
  std::size_t cpu;
  hwloc_obj_t object;
};

hwloc_obj_t core_of(hwloc_obj_t object) noexcept {
  while (object != nullptr && object->type != HWLOC_OBJ_CORE) object = object->parent;
  return object;
}

/// How deep in the tree of the machine two processors part: the deeper, the nearer.
int nearness(hwloc_obj_t a, hwloc_obj_t b) noexcept {
  while (a != b) {
    if (a == nullptr || b == nullptr) return -1;
    hwloc_obj_t& deeper = a->depth >= b->depth ? a : b;
    deeper = deeper->parent;
  }
  return a->depth;
}

/// The machine as hwloc shows it.
class Machine {
 public:
  Machine() {
    if (!hwloc_.usable() || hwloc_.init(&topology_) != 0) return;
    if (hwloc_.load(topology_) != 0) return;
    const int depth = hwloc_.depth_of(topology_, HWLOC_OBJ_PU);
    const hwloc_const_cpuset_t allowed = hwloc_.allowed(topology_);
    for (unsigned i = 0; hwloc_obj_t object = hwloc_.object_at(topology_, depth, i); ++i) {
      if (object->os_index < Cpus().size() && hwloc_.is_set(allowed, object->os_index) != 0)
        processors_.push_back({object->os_index, object});
    }
  }
  ~Machine() {
    if (topology_ != nullptr) hwloc_.destroy(topology_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] const std::vector<Processor>& processors() const noexcept { return processors_; }
  [[nodiscard]] hwloc_obj_t object(std::size_t cpu) const noexcept {
    const auto found = std::ranges::find(processors_, cpu, &Processor::cpu);
    return found == processors_.end() ? nullptr : found->object;
  }

 private:
  Hwloc hwloc_;
  hwloc_topology_t topology_ = nullptr;
  std::vector<Processor> processors_;
};

std::size_t first_of(const Cpus& cpus) noexcept {
  std::size_t cpu = 0;
  while (cpu < cpus.size() && !cpus[cpu]) ++cpu;
  return cpu;
}

}  // namespace

ThreadPlace place_for_thread(const host::Board& board, NodeId self) {
  Cpus taken;
  std::size_t wanted = 0;  // a processor for each node and each handler thread
  for (NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node)) continue;
    taken |= cpus_of(board.card(node));
    wanted += 1 + board.card(node).has_handler_thread;
  }
  const std::uint32_t quota = board.job().cpu_quota;
  const bool granted = quota == 0 || quota >= wanted;

  const Machine machine;
  const Cpus usable = read_cpus(board.job().cpus);
  std::vector<Processor> free;  // on cores where no node runs, one per core
  for (const Processor& processor : machine.processors()) {
    if (usable.any() && !usable[processor.cpu]) continue;  // taskset amrun ...
    hwloc_obj* const core = core_of(processor.object);
    const bool in_use = std::ranges::any_of(machine.processors(), [&](const Processor& other) {
      return taken[other.cpu] &&
             (other.cpu == processor.cpu || (core != nullptr && core_of(other.object) == core));
    });
    const bool seen = core != nullptr && std::ranges::any_of(free, [&](const Processor& other) {
                        return core_of(other.object) == core;
                      });
    if (!in_use && !seen) free.push_back(processor);
  }
  if (free.empty()) {  // no node is bound, or all processors have one: do they have enough between them?
    return {.cpu = -1, .own_processor = granted && taken.count() >= wanted};
  }
  for (NodeId node = 0; node <= self && !free.empty(); ++node) {
    if (!board.is_here(node) || board.card(node).has_handler_thread == 0) continue;
    hwloc_obj* const home = machine.object(first_of(cpus_of(board.card(node))));
    const auto nearest = std::ranges::max_element(
        free, {}, [&](const Processor& processor) { return nearness(processor.object, home); });
    if (node == self) return {.cpu = static_cast<int>(nearest->cpu), .own_processor = granted};
    free.erase(nearest);
  }
  return {};
}

}  // namespace am::core
