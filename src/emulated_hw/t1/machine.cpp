#include "emulated_hw/t1/machine.hpp"

#include <algorithm>

#include "emulated_hw/t1/nistat.hpp"

namespace am::t1 {

Machine::Processors Machine::made(NodeNumber nodes) {
  Processors processors;
  for (NodeNumber node = 0; node < std::min(nodes, most_nodes);
       ++node) {  // Mesh says what is wrong with more
    NetworkInterface& ni = processors.emplace_back(std::make_unique<Processor>(node))->ni();
    ni.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm);
    ni.ctc2(Register::enable, 1);
  }
  return processors;
}

std::vector<NetworkInterface*> Machine::interfaces(const Processors& processors) {
  std::vector<NetworkInterface*> all;
  for (const std::unique_ptr<Processor>& processor : processors) all.push_back(&processor->ni());
  return all;
}

void Machine::step(std::span<const NodeNumber> order) {
  mesh_.step(order);
  if (order.empty()) {
    for (const std::unique_ptr<Processor>& processor : processors_) processor->step();
  } else {
    for (const NodeNumber node : order) processors_[node]->step();
  }
}

}  // namespace am::t1
