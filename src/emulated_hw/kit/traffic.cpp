#include "emulated_hw/kit/traffic.hpp"

#include <stdexcept>
#include <string>

namespace am::kit {

namespace {

double chance(const NodePort& port, const Traffic& traffic) {
  if (traffic.packet_size == 0) throw std::invalid_argument("packet_size has to be at least 1");
  if (!(traffic.injection_rate > 0 && traffic.injection_rate <= 1))
    throw std::invalid_argument(
        "injection_rate has to be more than 0 and at most 1, the flits that a node can send");
  return traffic.injection_rate / traffic.packet_size / static_cast<double>(port.flit_cycles());
}

void check(const NodePort& port, std::uint32_t packet_size) {
  const auto [least, most] = port.packet_sizes();
  if (packet_size < least || packet_size > most)
    throw std::invalid_argument("packet_size has to be from " + std::to_string(least) + " to " +
                                std::to_string(most) + " in this network");
}

}  // namespace

TrafficNodes::TrafficNodes(NodePort& port, const Traffic& traffic)
    : port_(port),
      traffic_(traffic),
      random_(traffic.seed),
      gap_(chance(port, traffic)),
      destinations_(port.topology(), traffic),
      next_(port.nodes()),
      nodes_(port.nodes()),
      senders_(port.nodes()) {
  check(port, traffic.packet_size);
  for (Cycle& next : next_) next = port.now() + (gap_.p() == 1 ? 0 : gap_(random_));
}

void TrafficNodes::cycle(std::span<const RouterNumber> order) {
  const Cycle now = port_.now();
  for (const NodePort::Arrival& arrival : port_.arrivals()) take(arrival);
  if (!stopped_) {
    for (NodeNumber node = 0; node < next_.size(); ++node) {
      if (next_[node] == now) make(node, now);
    }
  }
  senders_.for_each([&](NodeNumber node) {
    if (port_.has_room(node, traffic_.channel)) send(node, now);
  });
  port_.step(order);
}

void TrafficNodes::make(NodeNumber from, Cycle now) {
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

/// The oldest packet.
void TrafficNodes::send(NodeNumber from, Cycle now) {
  Node& node = nodes_[from];
  const std::uint32_t number = node.packets[node.first];
  packets_[number].injected = now;
  port_.inject(from, {number, packets_[number].to, traffic_.packet_size, traffic_.channel});
  sent_ += traffic_.packet_size;
  if (++node.first == node.packets.size()) {
    node.packets.clear();
    node.first = 0;
    senders_.erase(from);
  } else if (node.first > 64 && node.first > node.packets.size() / 2) {
    node.packets.erase(node.packets.begin(), node.packets.begin() + static_cast<std::ptrdiff_t>(node.first));
    node.first = 0;
  }
}

void TrafficNodes::take(const NodePort::Arrival& arrival) {
  come_ += arrival.flits;
  if (measures_) accepted_flits_ += arrival.flits;
  Packet& packet = packets_[arrival.packet];
  if (packet.to != arrival.node || arrival.head != (packet.come == 0)) ++faults_;
  packet.come += arrival.flits;
  if (arrival.tail != (packet.come == traffic_.packet_size)) ++faults_;
  if (!arrival.tail) return;
  if (packet.counts) {
    packet_latencies_.add(arrival.at - packet.made);
    network_latency_ += arrival.at - packet.injected;
    hops_ += distance(port_.topology(), packet.from, packet.to) + 1;
  }
  unused_.push_back(arrival.packet);
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

}  // namespace am::kit
