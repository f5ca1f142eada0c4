// The nodes of a CNS-1's network for traffic: real network interfaces on its mesh, and in place of each processor one that takes no time.
// It sends as soon as the interface accepts a message, and takes what comes in the cycle in which it comes.
//
// A packet of n flits is a message of 4 n words, as far as a T1 can send them: with 2 words of its header, up to 5 scalars and a vector.
// Its first scalar is the packet's number. Messages name a handler in hardware (3.9), so no event begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/network_interface.hpp"

namespace am::t1 {

class MeshPort final : public kit::NodePort {
 public:
  /// Channels are priorities. Throws std::invalid_argument.
  explicit MeshPort(const Shape& shape)
      : NodePort(grid_of(shape), {"low", "high"}, {.least = 1, .most = most_flits}),
        interfaces_(interfaces_of(grid_of(shape))),
        rung_(nodes()),
        mesh_(shape, [this](NodeNumber node) { return &interfaces_[node]; }) {
    for (NodeNumber node = 0; node < nodes(); ++node) interfaces_[node].rings_processor({rung_, node});
  }

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override {
    return interfaces_[node].accepts(static_cast<Priority>(channel));
  }
  void inject(NodeNumber node, const Packet& packet) override {
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

  [[nodiscard]] Cycle now() const override { return mesh_.now(); }
  void step(std::span<const kit::RouterNumber> order) override {
    arrivals_.clear();
    mesh_.step(order);
    rung_.for_each([this](NodeNumber node) { take(node); });
    rung_.clear();
  }
  [[nodiscard]] bool is_empty() const override { return under_way_ == 0; }
  [[nodiscard]] Cycle still_for() const override { return mesh_.still_for(); }
  void add_waits(kit::Waits& waits) const override { mesh_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return mesh_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return Mesh::link_cycles + (links + 1) * (Mesh::router_cycles + Mesh::link_cycles) + flits - 1;
  }
  [[nodiscard]] std::vector<LinkCount> links() const override {
    return count_links([this](const kit::Link& link) {
      return link.port == kit::Link::of_node ? mesh_.injected(link.from)
                                             : mesh_.counts(link.from, link.port).flits;
    });
  }
  void record(kit::Trace* trace) override { mesh_.record(trace); }

 private:
  static constexpr unsigned most_flits =
      (words_of_header + most_scalars + most_vector + words_per_flit - 1) / words_per_flit;

  static std::deque<NetworkInterface> interfaces_of(const kit::Grid& grid) {
    std::deque<NetworkInterface> all;
    for (NodeNumber node = 0; node < grid.nodes(); ++node) all.emplace_back(node).add_hardware_handlers();
    return all;
  }
  void take(NodeNumber node) {
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

  std::deque<NetworkInterface> interfaces_;  // by node
  kit::NodeSet rung_;                        // nodes to which something has come, or from which it has gone
  Mesh mesh_;
  std::uint64_t under_way_ = 0;  // packets
};

}  // namespace am::t1
