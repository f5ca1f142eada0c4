#include "dispatch/arrangement.hpp"

#include <algorithm>

namespace ambench::dispatching {

const Arrangement* arrangement_named(std::string_view name) {
  const auto* const found = std::ranges::find(arrangements, name, &Arrangement::name);
  return found != arrangements.end() ? found : nullptr;
}

std::vector<Placed> place_all(CorePair cores, std::size_t machine_cores) {
  const bool crowded = machine_cores == 2;
  std::vector<Placed> all;
  for (const Arrangement& arrangement : arrangements) {
    if (shares_processor(arrangement) && !crowded) continue;
    const bool nodes_share = arrangement.own_processor && crowded;
    all.push_back({arrangement, {cores.first, nodes_share ? cores.first : cores.second}});
  }
  return all;
}

bool makes_sense(const Arrangement& arrangement, bool shared, const Scenario& scenario) {
  if (shared && scenario.program != Program::computes) return false;
  return arrangement.mode != am::Dispatch::poll || scenario.program != Program::computes;
}

}  // namespace ambench::dispatching
