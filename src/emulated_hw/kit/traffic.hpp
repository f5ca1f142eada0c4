// Packets for a network whose nodes do nothing but send and take them, and what happens to these: latency under load. Names and
// meanings are those of BookSim2 (sim_type latency, injection_process bernoulli).
//
// Each node makes a packet in each cycle with the same probability, and keeps those that the network does not take yet, as many as
// there are. It takes whatever comes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "emulated_hw/kit/destinations.hpp"
#include "emulated_hw/kit/latencies.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::kit {

/// The nodes of a network, and the packets that are on their way.
class TrafficNodes {
 public:
  /// Throws std::invalid_argument. The port outlives this.
  TrafficNodes(NodePort& port, const Traffic& traffic);

  /// What the nodes do in a cycle, and then that cycle of the network.
  void cycle(std::span<const RouterNumber> order = {});
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
  [[nodiscard]] Figures figures() const noexcept;
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
  struct Node {
    std::vector<std::uint32_t> packets;  // that wait, oldest first, from `first` on
    std::size_t first = 0;
  };

  void make(NodeNumber from, Cycle now);
  void send(NodeNumber from, Cycle now);
  void take(const NodePort::Arrival& arrival);

  NodePort& port_;
  const Traffic traffic_;
  std::mt19937_64 random_;
  std::geometric_distribution<Cycle> gap_;
  const Destinations destinations_;
  std::vector<Cycle> next_;  // by node: when it makes its next packet
  std::vector<Node> nodes_;
  NodeSet senders_;  // nodes with a packet
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
