#include "emulated_hw/cm5/machine.hpp"

#include <numeric>

namespace am::cm5 {

Machine::Machine(NodeNumber nodes, std::size_t words, std::uint64_t seed)
    : MachineOf("cm5", nodes), networks_(nodes, seed), map_(nodes) {
  std::iota(map_.begin(), map_.end(), NodeNumber{0});
  interfaces_.reserve(nodes);
  for (NodeNumber node = 0; node < nodes; ++node) {
    NetworkInterface& interface = interfaces_.emplace_back(networks_, node);
    interface.map(map_);
    add(processor_cycles_, interface, node, words);
    for (Network& network : networks_.both) network.rings(network.wiring().node(node), bell(node));
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

}  // namespace am::cm5
