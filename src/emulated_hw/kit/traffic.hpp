// Packets for a network whose nodes do nothing but send and take them, and what happens to these: latency under load. Names and
// meanings are those of BookSim2 (sim_type latency, injection_process bernoulli).
//
// Each node makes a packet in each cycle with the same probability, and keeps those that the network does not take yet, as many as
// there are. It takes whatever comes at once.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "emulated_hw/kit/destinations.hpp"
#include "emulated_hw/kit/latencies.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/text.hpp"

namespace am::kit {

/// The nodes of a network, and the packets that are on their way.
class TrafficNodes {
 public:
  /// Throws std::invalid_argument. The port outlives this.
  TrafficNodes(NodePort& port, const Traffic& traffic)
      : port_(port),
        traffic_(traffic),
        random_(traffic.seed),
        gap_(chance(port, traffic)),
        destinations_(port.topology(), traffic),
        next_(port.nodes()),
        waiting_(port.nodes()),
        senders_(port.nodes()) {
    check(port, traffic.packet_size);
    for (Cycle& next : next_) next = port.now() + (gap_.p() == 1 ? 0 : gap_(random_));
  }

  /// What the nodes do in a cycle, and then that cycle of the network.
  void cycle(std::span<const RouterNumber> order = {}) {
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
  /// No packets are made from now on.
  void stop() noexcept { stopped_ = true; }
  /// Packets that are made from now on count, until told otherwise.
  void measure(bool yes) noexcept { measures_ = yes; }

  struct Figures {
    std::uint64_t packets = 0;    ///< that counted and have come
    std::uint64_t under_way = 0;  ///< that count and have not
    // Of packets that counted and have come; 0 of none. Latencies are in cycles, until the last flit is out.
    double packet_latency = 0;   ///< mean: from its making
    double network_latency = 0;  ///< mean: since the network has begun to take it
    Cycle p50 = 0;               ///< packet latency that 50 in 100 do not exceed
    Cycle p95 = 0;
    Cycle p99 = 0;
    Cycle longest = 0;                 ///< packet latency
    double hops = 0;                   ///< mean: routers
    std::uint64_t accepted_flits = 0;  ///< of all packets, while counting
    std::uint64_t waiting = 0;         ///< packets at their nodes

    bool operator==(const Figures&) const = default;
  };
  [[nodiscard]] Figures figures() const noexcept {
    const std::uint64_t come = packet_latencies_.count();
    const double packets = come == 0 ? 1 : static_cast<double>(come);
    std::uint64_t waiting = 0;
    for (const auto& queue : waiting_) waiting += queue.size();
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
  /// Flits of packets that the network has begun to take, and those that have come.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t come() const noexcept { return come_; }
  /// Packets that came to another node than they were sent to, or whose flits were not in order: none.
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }

 private:
  struct Packet {
    Cycle made = 0;
    Cycle injected = 0;
    NodeNumber from = 0;
    NodeNumber to = 0;
    std::uint32_t come = 0;  // flits
    bool counts = false;
  };

  static double chance(const NodePort& port, const Traffic& traffic) {
    if (traffic.packet_size == 0) throw std::invalid_argument("packet_size has to be at least 1");
    if (!(traffic.injection_rate > 0 && traffic.injection_rate <= 1))
      throw std::invalid_argument(
          "injection_rate has to be more than 0 and at most 1, the flits that a node can send");
    return traffic.injection_rate / traffic.packet_size / static_cast<double>(port.flit_cycles());
  }
  static void check(const NodePort& port, std::uint32_t packet_size) {
    const auto [least, most] = port.packet_sizes();
    if (packet_size < least || packet_size > most)
      throw std::invalid_argument(
          text_of("packet_size has to be from ", least, " to ", most, " in this network"));
  }
  void make(NodeNumber from, Cycle now) {
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
    waiting_[from].push_back(number);
    senders_.put(from);
  }
  /// The oldest packet.
  void send(NodeNumber from, Cycle now) {
    const std::uint32_t number = waiting_[from].front();
    waiting_[from].pop_front();
    if (waiting_[from].empty()) senders_.erase(from);
    packets_[number].injected = now;
    port_.inject(from, {number, packets_[number].to, traffic_.packet_size, traffic_.channel});
    sent_ += traffic_.packet_size;
  }
  void take(const NodePort::Arrival& arrival) {
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

  NodePort& port_;
  const Traffic traffic_;
  std::mt19937_64 random_;
  std::geometric_distribution<Cycle> gap_;
  const Destinations destinations_;
  std::vector<Cycle> next_;                         // by node: when it makes its next packet
  std::vector<std::deque<std::uint32_t>> waiting_;  // by node: packets, oldest first
  NodeSet senders_;                                 // nodes with a packet
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> unused_;  // of packets_
  bool stopped_ = false;
  bool measures_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t come_ = 0;
  std::uint64_t faults_ = 0;
  std::uint64_t measured_ = 0;
  Latencies packet_latencies_;
  std::uint64_t accepted_flits_ = 0;
  std::uint64_t network_latency_ = 0;
  std::uint64_t hops_ = 0;
};

}  // namespace am::kit
