#include "emulated_hw/mmachine/costs/extraction.hpp"

#include <algorithm>
#include <utility>

namespace am::mmachine::costs {

Cycle Extraction::accept(const Cluster& cluster, Arrival arrival) {
  arrival_ = std::move(arrival);
  if (!buffered()) return arrival_.head;
  const Cycle entered = std::max(arrival_.head, cluster.next_issue());
  const Cycle complete = std::max(arrival_.tail(), entered + arrival_.words.size());
  const Cycle readable = complete + (port_.mapping == Mapping::memory ? hierarchy_cycles : hand_over_cycles);
  arrival_ = {.head = readable, .words = std::vector<Cycle>(arrival_.words.size(), readable)};
  return readable;
}

// A load that waits in the interface until there is a word.
Register Extraction::read_memory(Cluster& cluster, Cycle arrived) noexcept {
  const Register asked = cluster.load(cluster.lea());
  const Cycle issued = asked.ready - load_cycles;
  return {std::max(issued, arrived) + hierarchy_cycles};
}

Register Extraction::take(Cluster& cluster, Cycle arrived) noexcept {
  switch (port_.mapping) {
    case Mapping::processor:
      return {arrived};
    case Mapping::network:
      return cluster.move({arrived});
    case Mapping::memory:
      break;
  }
  return read_memory(cluster, arrived);
}

Register Extraction::head(Cluster& cluster) noexcept { return take(cluster, arrival_.head); }

}  // namespace am::mmachine::costs
