#include "emulated_hw/ncube2/machine.hpp"

#include <algorithm>

namespace am::ncube2 {

Machine::Machine(unsigned dimensions, std::size_t words)
    : MachineOf("ncube2", NodeNumber{1} << std::min(dimensions, most_dimensions)), network_(dimensions) {
  for (NodeNumber node = 0; node < network_.nodes(); ++node) {
    add(cycles_, network_, node, words);
    network_.rings(network_.wiring().node(node), bell(node));
  }
}

void Machine::step(std::span<const NodeNumber> order) {
  step_nodes(order, [this](NodeNumber number) {
    node(number).step();
    return node(number).has_nothing_to_do();
  });
  network_.step(order);
  ++cycles_;
}

std::uint64_t Machine::fingerprint() {
  std::uint64_t all = fingerprint_with(network_.fingerprint());
  for (const auto& processor : processors()) all = kit::mixed(all, processor->stolen());
  return all;
}

}  // namespace am::ncube2
