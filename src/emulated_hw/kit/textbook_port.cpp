#include "emulated_hw/kit/textbook_port.hpp"

namespace am::kit {

TextbookPort::TextbookPort(const Topology& topology, const CycleNetwork::Options& options)
    : NodePort(topology, {"packet"}, {}),
      network_(topology, options),
      nodes_(network_.nodes()),
      credits_(network_.nodes()),
      senders_(network_.nodes()) {
  for (auto& by_vc : credits_) by_vc.fill(static_cast<std::uint8_t>(network_.shape().buffer));
  for (Node& node : nodes_) {
    node.with_credit = network_.shape().all_vcs();
    node.next_vc.had_its_turn(0);
  }
}

void TextbookPort::inject(NodeNumber node, const Packet& packet) {
  Node& from = nodes_[node];
  from.packet = packet.number;
  from.to = packet.to;
  from.left = packet.flits;
  from.begun = false;
  from.vc = from.next_vc.pick(from.with_credit);
  from.next_vc.had_its_turn(from.vc);
  senders_.put(node);
}

void TextbookPort::step(std::span<const RouterNumber> order) {
  senders_.for_each([this](NodeNumber node) { send(node); });
  network_.step(order);
  take_what_comes();
}

void TextbookPort::send(NodeNumber node) {
  Node& from = nodes_[node];
  if (!has(from.with_credit, from.vc)) return;
  if (--credits_[node][from.vc] == 0) from.with_credit &= ~request(from.vc);
  const bool head = !from.begun;
  from.begun = true;
  const bool tail = --from.left == 0;
  network_.inject(node, Flit({from.packet, static_cast<std::uint16_t>(from.to),
                              static_cast<std::uint8_t>(from.vc), head, tail}));
  if (tail) senders_.erase(node);
}

void TextbookPort::take_what_comes() {
  arrivals_.clear();
  const Cycle now = network_.now();
  network_.for_each_arrival([&](NodeNumber node, Flit flit, int vc) {
    if (vc >= 0) {
      ++credits_[node][static_cast<unsigned>(vc)];
      nodes_[node].with_credit |= request(static_cast<unsigned>(vc));
    }
    if (flit) {
      network_.taken(node, flit.vc());
      arrivals_.push_back({now, node, flit.packet(), 1, flit.is_head(), flit.is_tail()});
    }
  });
}

Cycle TextbookPort::zero_load_latency(unsigned links, std::uint32_t flits) const {
  // routing, a channel, and from the switch to the next one
  const Cycle router = network_.shape().routing_delay + 1 + CycleNetwork::flit_delay;
  return CycleNetwork::from_node_delay + router * (links + 1) + flits - 1;
}

std::vector<NodePort::LinkCount> TextbookPort::links() const {
  std::vector<LinkCount> all;
  network_.for_each_link([&](Link link, std::uint64_t flits) { all.push_back({link, flits}); });
  return all;
}

}  // namespace am::kit
