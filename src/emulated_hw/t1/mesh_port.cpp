#include "emulated_hw/t1/mesh_port.hpp"

#include <algorithm>

namespace am::t1 {

namespace {

constexpr unsigned most_flits =
    (words_of_header + most_scalars + most_vector + words_per_flit - 1) / words_per_flit;

std::deque<NetworkInterface> interfaces_of(const kit::Grid& grid) {
  std::deque<NetworkInterface> all;
  for (NodeNumber node = 0; node < grid.nodes(); ++node) all.emplace_back(node).add_hardware_handlers();
  return all;
}

}  // namespace

MeshPort::MeshPort(const Shape& shape)
    : NodePort(grid_of(shape), {"low", "high"}, {.least = 1, .most = most_flits}),
      interfaces_(interfaces_of(grid_of(shape))),
      rung_(nodes()),
      mesh_(shape, [this](NodeNumber node) { return &interfaces_[node]; }) {
  for (NodeNumber node = 0; node < nodes(); ++node) interfaces_[node].rings_processor({rung_, node});
}

void MeshPort::inject(NodeNumber node, const Packet& packet) {
  NetworkInterface& ni = interfaces_[node];
  const unsigned words = packet.flits * words_per_flit - words_of_header;
  const unsigned vector = std::min((packet.flits - 1) * words_per_flit, most_vector);
  ni.visible().data[0] = packet.number;
  ni.send({.scalars = std::min(words - vector, most_scalars),
           .vector = true,
           .priority = static_cast<Priority>(packet.channel)},
          packet.to, NetworkInterface::reserved_handlers, {}, vector);
  ++under_way_;
}

void MeshPort::step(std::span<const kit::RouterNumber> order) {
  arrivals_.clear();
  mesh_.step(order);
  rung_.for_each([this](NodeNumber node) { take(node); });
  rung_.clear();
}

void MeshPort::take(NodeNumber node) {
  NetworkInterface& ni = interfaces_[node];
  for (const Priority priority : {Priority::high, Priority::low}) {
    const Message* const message = ni.for_hardware(priority);
    if (message == nullptr) continue;
    arrivals_.push_back({.at = mesh_.now() - 1,
                         .node = node,
                         .packet = message->scalar[0],
                         .flits = message->flits(),
                         .head = true,
                         .tail = true});
    ni.handled(priority);
    --under_way_;
  }
}

Cycle MeshPort::zero_load_latency(unsigned links, std::uint32_t flits) const {
  return Mesh::link_cycles + (links + 1) * (Mesh::router_cycles + Mesh::link_cycles) + flits - 1;
}

std::vector<kit::NodePort::LinkCount> MeshPort::links() const {
  return count_links([this](const kit::Link& link) {
    return link.port == kit::Link::of_node ? mesh_.injected(link.from)
                                           : mesh_.counts(link.from, link.port).flits;
  });
}

}  // namespace am::t1
