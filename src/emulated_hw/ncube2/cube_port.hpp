// The nodes of an nCUBE/2's network for traffic, in place of their kernels and DMA engines. An engine sends whenever the network takes a flit,
// and the kernel queues messages for those that are busy (von Eicken 1993, 3.1.4). Each input engine is set up again at once.
//
// A packet of n flits is a message of n words, its address and the packet's number among them. A flit takes 36 cycles, and rates are per
// node and such a time: 1 is 4 bytes in 1.8 us, 2.22 MB/s.
//
// Assumed: a message to its own node takes the time of one hop there, and no channel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/ncube2/network.hpp"

namespace am::ncube2 {

class CubePort final : public kit::NodePort {
 public:
  /// Of 2^dimensions nodes. Throws std::invalid_argument.
  explicit CubePort(unsigned dimensions);

  [[nodiscard]] bool has_room(NodeNumber /*node*/, unsigned /*channel*/) const override { return true; }
  void inject(NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return network_.now(); }
  void step(std::span<const kit::RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return under_way_ == 0; }
  [[nodiscard]] Cycle still_for() const override {
    return std::min(network_.still_for(), now() - last_to_itself_);
  }
  void add_waits(kit::Waits& waits) const override { network_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return network_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return latency(std::max(links, 1u), flits);
  }
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(kit::Trace* trace) override;

 private:
  struct Output {
    std::list<Packet> packets;  // that it sends, and that wait for it
    Cycle sent = 0;             // flits of the first; of the output to the node itself, cycles
    std::uint32_t recorded = kit::Trace::nothing;  // what trace_ calls it
  };
  struct Input {
    std::uint32_t come = 0;  // words of a message
    std::uint32_t packet = 0;
  };

  /// Of a node: one for each dimension, and one to itself.
  [[nodiscard]] unsigned engine(NodeNumber node, unsigned number) const noexcept {
    return node * (network_.dimensions() + 1) + number;
  }
  [[nodiscard]] unsigned engine_to(NodeNumber from, NodeNumber to) const noexcept {
    return from == to ? network_.dimensions() : first_dimension(from, {.node = to});
  }
  void send(NodeNumber node, unsigned dimension);
  void send_to_itself(NodeNumber node);
  void record_begin(NodeNumber node, Output& output);
  void take(NodeNumber node, unsigned dimension);
  void take_from_itself(NodeNumber node);
  void arrive(NodeNumber node, std::uint32_t packet, std::uint32_t flits, std::uint32_t recorded);
  void count(NodeNumber from, const Packet& packet);
  [[nodiscard]] std::size_t carried_at(NodeNumber node, unsigned port) const noexcept {
    const unsigned ports = network_.dimensions() + 1;
    return std::size_t{node} * (ports + 1) + std::min(port, ports);
  }

  Network network_;
  std::vector<Output> outputs_;
  std::vector<Input> inputs_;
  std::vector<std::uint64_t> carried_;  // by link: flits of packets that have left their nodes
  kit::NodeSet senders_;
  kit::NodeSet rung_;            // nodes to which something has come
  std::uint64_t under_way_ = 0;  // packets
  Cycle last_to_itself_ = 0;     // when a node was last sending to itself
  kit::Trace* trace_ = nullptr;
};

}  // namespace am::ncube2
