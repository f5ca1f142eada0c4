#include "emulated_hw/ncube2/network.hpp"

#include <stdexcept>
#include <string>

namespace am::ncube2 {

namespace {

constexpr std::uint64_t port_bit(unsigned port) noexcept { return std::uint64_t{1} << port; }

kit::Wiring wiring_of(unsigned dimensions) {
  if (dimensions == 0 || dimensions > most_dimensions)
    throw std::invalid_argument("ncube2: a cube of " + std::to_string(dimensions) + " dimensions: 1 to " +
                                std::to_string(most_dimensions));
  const NodeNumber nodes = NodeNumber{1} << dimensions;
  kit::Wiring wiring(nodes, nodes);
  for (NodeNumber node = 0; node < nodes; ++node) {
    for (unsigned dimension = 0; dimension < dimensions; ++dimension) {
      const unsigned engine = engine_ports + dimension;
      wiring.connect({{node, dimension}, {node ^ (1u << dimension), dimension}, Router::flit_cycles});
      wiring.connect({{wiring.node(node), dimension}, {node, engine}, 0});
      wiring.connect({{node, engine}, {wiring.node(node), dimension}, 0});
    }
  }
  return wiring;
}

}  // namespace

kit::Way Router::way(NodeNumber here, unsigned port, Word head) const {
  const Address to = Address::of(head);
  const bool is_sent_here = port >= engine_ports;
  if (((to.node | to.mask) >> dimensions_) != 0)
    throw std::logic_error("ncube2: a message to node " + std::to_string(to.node) + ", mask " +
                           std::to_string(to.mask) + ", in a cube of " + std::to_string(dimensions_) +
                           " dimensions");
  if (is_sent_here && first_dimension(here, to) != port - engine_ports)
    throw std::logic_error("ncube2: node " + std::to_string(here) + " sends to node " +
                           std::to_string(to.node) + " by the engine of dimension " +
                           std::to_string(port - engine_ports));
  const Outputs outputs = e_cube(here, to, is_sent_here ? 0 : port + 1);
  if (outputs.here && to.forwards && to.mask == 0) return {.drops_head = true};
  return {.outputs = outputs.dimensions | (outputs.here ? port_bit(engine_ports + port) : 0)};
}

Network::Network(unsigned dimensions)
    : WordNetwork(wiring_of(dimensions), Router(dimensions)), dimensions_(dimensions) {}

}  // namespace am::ncube2
