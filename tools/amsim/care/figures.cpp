#include "amsim/care/figures.hpp"

namespace amsim::care {

namespace {

std::vector<std::uint32_t> any_data(std::uint32_t words) { return std::vector<std::uint32_t>(words, 1); }

/// Cycles and link words until it is empty.
void run_dry(Machine& machine) {
  machine.run_or_throw([&] { return machine.is_empty(); });
}

}  // namespace

Cycle unicast_time(unsigned links, std::uint32_t words, const am::care::Options& options) {
  Machine machine(am::kit::Grid{{links + 1}}, options);
  machine.send(0, {{links}}, any_data(words));
  run_dry(machine);
  return machine.delivered(links).at(0).at;
}

LinkWords link_words(const am::kit::Topology& topology, NodeNumber from, const std::vector<Target>& targets,
                     std::uint32_t words, const am::care::Options& options) {
  LinkWords found;
  Machine at_once(topology, options);
  at_once.send(from, targets, any_data(words));
  run_dry(at_once);
  found.multicast = at_once.link_words();
  Machine each(topology, options);
  for (const Target& target : targets) {
    each.send(from, {target}, any_data(words));
    run_dry(each);
  }
  found.unicasts = each.link_words();
  return found;
}

Deadlock::Deadlock(const Timeouts& timeouts, std::uint64_t seed, std::uint32_t words)
    : machine(am::kit::Grid{{4}}, {.timeouts = timeouts, .seed = seed}, am::care::Preferences::one_only),
      a(machine.send(0, {{1}, {2}}, any_data(words))),
      b(machine.send(3, {{2}, {1}}, any_data(words))) {}

Recovery recovery(const Timeouts& timeouts, std::uint64_t seed, Cycle most_cycles) {
  Deadlock both(timeouts, seed);
  Machine& machine = both.machine;
  const auto delivered = [&] { return machine.delivered(1).size() + machine.delivered(2).size() == 4; };
  while (!delivered() && machine.now() < most_cycles) machine.step();
  return {delivered(), machine.now(), machine.counts().aborts};
}

}  // namespace amsim::care
