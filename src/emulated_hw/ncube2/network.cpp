#include "emulated_hw/ncube2/network.hpp"

#include <stdexcept>
#include <string>

namespace am::ncube2 {

namespace {

constexpr std::uint64_t port_bit(unsigned port) noexcept { return std::uint64_t{1} << port; }
constexpr std::uint32_t below(unsigned dimension) noexcept { return (std::uint32_t{1} << dimension) - 1; }

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

/// Bits of the address are settled from the lowest on, so a message that came by dimension d has those up to d behind it. The copies of a
/// broadcast part at each bit that does not matter; what is left goes on to the next bit that differs, or ends here.
kit::Way Router::way(NodeNumber here, unsigned port, Word head) const {
  const Address to = Address::of(head);
  const bool is_sent_here = port >= engine_ports;
  const std::uint32_t differs = (here ^ to.node) & ~to.mask;
  if (((to.node | to.mask) >> dimensions_) != 0)
    throw std::logic_error("ncube2: a message to node " + std::to_string(to.node) + ", mask " +
                           std::to_string(to.mask) + ", in a cube of " + std::to_string(dimensions_) +
                           " dimensions");
  if (is_sent_here && first_dimension(here, to) != port - engine_ports)
    throw std::logic_error("ncube2: node " + std::to_string(here) + " sends to node " +
                           std::to_string(to.node) + " by the engine of dimension " +
                           std::to_string(port - engine_ports));
  if (to.mask == 0) {
    if (differs != 0) return {.outputs = port_bit(static_cast<unsigned>(std::countr_zero(differs)))};
    if (to.forwards) return {.drops_head = true};
    return {.outputs = port_bit(engine_ports + port)};
  }
  const std::uint32_t open = is_sent_here ? ~0u : ~below(port + 1);
  const std::uint32_t next = differs & open & -(differs & open);  // the lowest, or none
  const std::uint32_t copies = to.mask & open & (next != 0 ? next - 1 : ~0u);
  return {.outputs = (next | copies) | (next == 0 && !is_sent_here ? port_bit(engine_ports + port) : 0)};
}

Network::Network(unsigned dimensions)
    : WordNetwork(wiring_of(dimensions), Router(dimensions)), dimensions_(dimensions) {}

}  // namespace am::ncube2
