#include "emulated_hw/cm5/machine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::cm5 {

Machine::Machine(NodeNumber nodes, std::size_t words, std::uint64_t seed)
    : kit::Machine("cm5"), networks_(nodes, seed), map_(nodes), awake_(nodes) {
  std::iota(map_.begin(), map_.end(), NodeNumber{0});
  interfaces_.reserve(nodes);
  for (NodeNumber node = 0; node < nodes; ++node) {
    NetworkInterface& interface = interfaces_.emplace_back(networks_, node);
    interface.map(map_);
    processors_.push_back(std::make_unique<Processor>(interface, node, words));
    processors_.back()->is_stepped_by(processor_cycles_);
    for (const Side side : sides)
      networks_[side].rings(networks_[side].wiring().node(node), awake_.bell(node));
  }
}

void Machine::step(std::span<const NodeNumber> order) {
  is_processors_turn_ = (now() + 1) * processor_mhz / network_mhz > now() * processor_mhz / network_mhz;
  if (order.empty()) {
    awake_.for_each(now(), [this](NodeNumber node) {
      step(node);
      if (processors_[node]->has_nothing_to_do() && interfaces_[node].has_nothing_to_do())
        awake_.sleeps(node);
    });
  } else {
    for (const NodeNumber node : order) step(node);
  }
  networks_.step();
  if (is_processors_turn_) ++processor_cycles_;
}

void Machine::step(NodeNumber node) {
  if (trace_ != nullptr && !processors_[node]->is_idle()) trace_->does(node, 0, now(), false);
  if (is_processors_turn_) processors_[node]->step();
  interfaces_[node].step();
}

Cycle Machine::still_for() const {
  return std::min(networks_[Side::left].still_for(), networks_[Side::right].still_for());
}

bool Machine::messages_are_under_way() const {
  return networks_[Side::left].under_way() + networks_[Side::right].under_way() != 0;
}

bool Machine::is_busy_for(Cycle cycles) const {
  return std::ranges::any_of(processors_, [=](const auto& each) { return each->is_busy_for(cycles); });
}

std::string Machine::who_waits() const {
  kit::Waits waits;
  for (const Side side : sides) networks_[side].add_waits(waits);
  for (const NetworkInterface& interface : interfaces_) interface.add_waits(waits);
  for (const auto& processor : processors_) processor->add_waits(waits);
  const std::string text = waits.text();
  return text.empty() ? "all programs have ended\n" : text;
}

std::uint64_t Machine::fingerprint() {
  std::uint64_t all = kit::mixed(networks_[Side::left].fingerprint(), networks_[Side::right].fingerprint());
  for (const auto& processor : processors_)
    all = kit::mixed(kit::mixed(all, processor->spent().computing), processor->spent().idle);
  return all;
}

void Machine::record(kit::Trace* trace) {
  for (const Side side : sides) networks_[side].record(trace, [](unsigned port) { return port; });
  for (NetworkInterface& interface : interfaces_) interface.record(trace);
  trace_ = trace;
}

kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title), .messages = {"left", "right"}, .activities = {"computes"}};
}

}  // namespace am::cm5
