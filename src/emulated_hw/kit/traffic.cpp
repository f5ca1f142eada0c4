#include "emulated_hw/kit/traffic.hpp"

#include <stdexcept>
#include <string>

namespace am::kit {

namespace {

double chance(const Traffic& traffic) {
  const double chance = traffic.injection_rate / traffic.packet_size;
  if (traffic.packet_size == 0 || !(chance > 0) || chance > 1)
    throw std::invalid_argument(
        "injection_rate has to be more than 0 and at most packet_size, which is at least 1");
  return chance;
}

}  // namespace

TrafficNodes::TrafficNodes(CycleNetwork& network, const Traffic& traffic)
    : network_(network),
      traffic_(traffic),
      random_(traffic.seed),
      gap_(chance(traffic)),
      destinations_(network.topology(), traffic),
      next_(network.nodes()),
      nodes_(network.nodes()),
      senders_(network.nodes()) {
  for (Cycle& next : next_) next = network.now() + (chance(traffic) == 1 ? 0 : gap_(random_));
  for (Node& node : nodes_)
    node.credits.assign(network.shape().vcs, static_cast<std::uint8_t>(network.shape().buffer));
}

void TrafficNodes::cycle(std::span<const RouterNumber> order) {
  const Cycle now = network_.now();
  network_.for_each_arrival([&](NodeNumber node) {
    if (const int vc = network_.credit(node); vc >= 0) ++nodes_[node].credits[static_cast<unsigned>(vc)];
    if (const Flit flit = network_.ejected(node)) take(node, flit);
  });
  if (!stopped_) {
    for (NodeNumber node = 0; node < next_.size(); ++node) {
      if (next_[node] == now) make(node);
    }
  }
  senders_.for_each([&](NodeNumber node) { send(node); });
  network_.step(order);
}

void TrafficNodes::make(NodeNumber from) {
  const Cycle now = network_.now();
  next_[from] = now + 1 + (gap_.p() == 1 ? 0 : gap_(random_));
  std::uint32_t number = 0;
  if (unused_.empty()) {
    number = static_cast<std::uint32_t>(packets_.size());
    packets_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  packets_[number] = {
      .made = now, .from = from, .to = destinations_.next(from, random_), .counts = measures_};
  if (measures_) ++measured_;
  nodes_[from].packets.push_back(number);
  senders_.put(from);
}

/// The next flit of the oldest packet. Its virtual channel is the next one with room.
void TrafficNodes::send(NodeNumber from) {
  Node& node = nodes_[from];
  const std::uint32_t number = node.packets[node.first];
  Packet& packet = packets_[number];
  if (node.sent == 0) {
    const unsigned vcs = network_.shape().vcs;
    unsigned tries = 0;
    do {
      node.vc = node.vc + 1 == vcs ? 0 : node.vc + 1;
    } while (node.credits[node.vc] == 0 && ++tries < vcs);
  }
  if (node.credits[node.vc] == 0) return;
  --node.credits[node.vc];
  const bool head = node.sent == 0;
  const bool tail = ++node.sent == traffic_.packet_size;
  if (head) packet.injected = network_.now();
  network_.inject(from, Flit({number, static_cast<std::uint16_t>(packet.to),
                              static_cast<std::uint8_t>(node.vc), head, tail}));
  ++sent_;
  if (!tail) return;
  node.sent = 0;
  if (++node.first == node.packets.size()) {
    node.packets.clear();
    node.first = 0;
    senders_.erase(from);
  } else if (node.first > 64 && node.first > node.packets.size() / 2) {
    node.packets.erase(node.packets.begin(), node.packets.begin() + static_cast<std::ptrdiff_t>(node.first));
    node.first = 0;
  }
}

void TrafficNodes::take(NodeNumber at, Flit flit) {
  network_.taken(at, flit.vc());
  ++come_;
  if (measures_) ++accepted_flits_;
  Packet& packet = packets_[flit.packet()];
  if (packet.to != at || flit.is_head() != (packet.come == 0)) ++faults_;
  ++packet.come;
  if (flit.is_tail() != (packet.come == traffic_.packet_size)) ++faults_;
  if (!flit.is_tail()) return;
  if (packet.counts) {
    packet_latencies_.add(network_.now() - packet.made);
    network_latency_ += network_.now() - packet.injected;
    hops_ += distance(network_.topology(), packet.from, packet.to) + 1;
  }
  unused_.push_back(flit.packet());
}

TrafficNodes::Figures TrafficNodes::figures() const noexcept {
  const std::uint64_t come = packet_latencies_.count();
  const double packets = come == 0 ? 1 : static_cast<double>(come);
  std::uint64_t waiting = 0;
  for (const Node& node : nodes_) waiting += node.packets.size() - node.first;
  return {.packets = come,
          .under_way = measured_ - come,
          .packet_latency = packet_latencies_.mean(),
          .network_latency = static_cast<double>(network_latency_) / packets,
          .p50 = packet_latencies_.percentile(50),
          .p95 = packet_latencies_.percentile(95),
          .p99 = packet_latencies_.percentile(99),
          .longest = packet_latencies_.longest(),
          .hops = static_cast<double>(hops_) / packets,
          .accepted_flits = accepted_flits_,
          .waiting = waiting};
}

void check_that_it_moves(const CycleNetwork& network, Cycle patience) {
  if (network.still_for() > patience && network.flits() != 0)
    throw std::runtime_error("nothing has moved for " + std::to_string(network.still_for()) + " cycles:\n" +
                             who_waits(network));
}

}  // namespace am::kit
