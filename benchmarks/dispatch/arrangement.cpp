#include "dispatch/arrangement.hpp"

#include <stdexcept>

namespace ambench::dispatching {

const Arrangement& arrangement_named(std::string_view name) {
  for (const Arrangement& arrangement : arrangements) {
    if (arrangement.name == name) return arrangement;
  }
  throw std::runtime_error("no such arrangement: " + std::string(name));
}

Places places_for(const Arrangement& arrangement, std::span<const int> cpus) {
  if (arrangement.own_processor && cpus.size() == 2) return {cpus[0], cpus[0]};
  return {cpus[0], cpus[1]};
}

bool possible(const Arrangement& arrangement, std::span<const int> cpus) {
  const bool thread_shares = arrangement.mode == am::Dispatch::thread && !arrangement.own_processor;
  return !thread_shares || cpus.size() == 2;
}

bool makes_sense(const Arrangement& arrangement, bool shared, const Scenario& scenario) {
  const bool waits = scenario.program == Program::waits || scenario.program == Program::sleeps;
  if (waits && shared) return false;
  return arrangement.mode != am::Dispatch::poll || scenario.program != Program::computes;
}

}  // namespace ambench::dispatching
