// Nodes of one partition of a CM-5, without processors: their interfaces on the data networks. Logical numbers are the physical ones.
#pragma once

#include <numeric>

#include "emulated_hw/cm5/network_interface.hpp"

namespace test {

struct Interfaces {
  explicit Interfaces(am::cm5::NodeNumber count, std::uint64_t seed = 1) : networks(count, seed), map(count) {
    std::iota(map.begin(), map.end(), am::cm5::NodeNumber{0});
    nodes.reserve(count);
    for (am::cm5::NodeNumber node = 0; node < count; ++node) nodes.emplace_back(networks, node).map(map);
  }
  am::cm5::NetworkInterface& operator[](am::cm5::NodeNumber node) { return nodes[node]; }
  void step() {
    for (am::cm5::NetworkInterface& node : nodes) node.step();
    networks.step();
  }
  void run(am::cm5::Cycle cycles) {
    for (am::cm5::Cycle cycle = 0; cycle < cycles; ++cycle) step();
  }

  am::cm5::DataNetworks networks;
  std::vector<am::cm5::NodeNumber> map;
  std::vector<am::cm5::NetworkInterface> nodes;
};

}  // namespace test
