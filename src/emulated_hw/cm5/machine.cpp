#include "emulated_hw/cm5/machine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace am::cm5 {

Machine::Machine(NodeNumber nodes, std::size_t words, std::uint64_t seed)
    : MachineOf("cm5", nodes), networks_(nodes, seed), map_(nodes) {
  std::iota(map_.begin(), map_.end(), NodeNumber{0});
  interfaces_.reserve(nodes);
  for (NodeNumber node = 0; node < nodes; ++node) {
    NetworkInterface& interface = interfaces_.emplace_back(networks_, node);
    interface.map(map_);
    add(processor_cycles_, interface, node, words);
    for (const Side side : sides) networks_[side].rings(networks_[side].wiring().node(node), bell(node));
  }
}

void Machine::step(std::span<const NodeNumber> order) {
  const bool is_processors_turn =
      (now() + 1) * processor_mhz / network_mhz > now() * processor_mhz / network_mhz;
  step_nodes(order, [&](NodeNumber number) {
    Processor& processor = node(number);
    if (trace_ != nullptr && !processor.is_idle()) trace_->does(number, 0, now(), false);
    if (is_processors_turn) processor.step();
    interfaces_[number].step();
    return processor.has_nothing_to_do() && interfaces_[number].has_nothing_to_do();
  });
  networks_.step();
  if (is_processors_turn) ++processor_cycles_;
}

Cycle Machine::still_for() const {
  return std::min(networks_[Side::left].still_for(), networks_[Side::right].still_for());
}

bool Machine::messages_are_under_way() const {
  return networks_[Side::left].under_way() + networks_[Side::right].under_way() != 0;
}

void Machine::add_network_waits(kit::Waits& waits) const {
  for (const Side side : sides) networks_[side].add_waits(waits);
  for (const NetworkInterface& interface : interfaces_) interface.add_waits(waits);
}

std::uint64_t Machine::fingerprint() {
  return fingerprint_with(
      kit::mixed(networks_[Side::left].fingerprint(), networks_[Side::right].fingerprint()));
}

void Machine::record(kit::Trace* trace) {
  for (const Side side : sides) networks_[side].record(trace, [](unsigned port) { return port; });
  trace_ = trace;
}

kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title), .messages = {"left", "right"}, .activities = {"computes"}};
}

}  // namespace am::cm5
