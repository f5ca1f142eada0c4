#include "emulated_hw/cm5/tree_port.hpp"

#include <stdexcept>
#include <string>

namespace am::cm5 {

namespace {

NodeNumber nodes_below(unsigned levels) {
  if (levels < 1 || levels > 5)
    throw std::invalid_argument("cm5 has 4^n nodes, n from 1 to 5, not n=" + std::to_string(levels));
  return NodeNumber{1} << 2 * levels;
}

}  // namespace

TreePort::TreePort(unsigned levels, std::uint64_t seed)
    : NodePort(Tree(nodes_below(levels)).shape(), {"left", "right"}, {.least = 1, .most = most_words},
               word_flits),
      networks_(nodes_below(levels), seed),
      rung_(nodes()) {
  for (const Side side : sides) {
    Network& network = networks_[side];
    for (NodeNumber node = 0; node < nodes(); ++node) {
      network.rings(network.wiring().node(node), {rung_, node});
      for (unsigned link = 0; link < Tree::links; ++link) network.accept(network.into(node, link));
    }
  }
}

void TreePort::inject(NodeNumber node, const Packet& packet) {
  Message message{.to = packet.to, .length = static_cast<std::uint8_t>(packet.flits)};
  message.words[0] = packet.number;
  network(packet.channel).launch(node, message);
}

void TreePort::step(std::span<const kit::RouterNumber> order) {
  arrivals_.clear();
  for (const Side side : sides) networks_[side].step(order);
  rung_.for_each([this](NodeNumber node) {
    for (const Side side : sides) {
      for (unsigned link = 0; link < Tree::links; ++link) take(networks_[side], node, link);
    }
  });
  rung_.clear();
}

void TreePort::take(Network& network, NodeNumber node, unsigned link) {
  const kit::WireNumber wire = network.into(node, link);
  if (network.front(wire) == nullptr) return;
  const Message come = network.take_at(node, wire);
  arrivals_.push_back({now(), node, come.words[0], come.length, true, true});
  network.accept(wire);
}

std::vector<kit::NodePort::LinkCount> TreePort::links() const {
  std::vector<LinkCount> all;
  const auto busy = [this](kit::WireNumber wire) {
    return (network(0).busy(wire) + network(1).busy(wire)) / word_flits;
  };
  const kit::Wiring& wiring = network(0).wiring();
  for (NodeNumber node = 0; node < nodes(); ++node) {
    std::uint64_t flits = 0;
    for (const kit::WireNumber wire : wiring.out_of(wiring.node(node))) flits += busy(wire);
    all.push_back({{node}, flits});
  }
  for (kit::RouterNumber router = 0; router < wiring.routers(); ++router) {
    const auto& outputs = wiring.out_of(router);
    for (unsigned port = 0; port < outputs.size(); ++port) {
      if (outputs[port] != kit::no_wire) all.push_back({{router, port}, busy(outputs[port])});
    }
  }
  return all;
}

void TreePort::record(kit::Trace* trace) {
  for (const Side side : sides) networks_[side].record(trace, [](unsigned port) { return port; });
}

}  // namespace am::cm5
