// The nodes of a network of textbook routers: each sends a flit in each cycle, if it has one and there is room, and a packet on the next
// virtual channel with room. As BookSim2's nodes do.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/cycle_network.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::kit {

class TextbookPort final : public NodePort {
 public:
  /// Throws std::invalid_argument.
  TextbookPort(const Topology& topology, const CycleNetwork::Options& options);

  [[nodiscard]] CycleNetwork& network() noexcept { return network_; }

  [[nodiscard]] bool has_room(NodeNumber node, unsigned /*channel*/) const override {
    return nodes_[node].left == 0 && nodes_[node].with_credit != 0;
  }
  void inject(NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return network_.now(); }
  void step(std::span<const RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return senders_.empty() && network_.flits() == 0; }
  [[nodiscard]] Cycle still_for() const override { return network_.still_for(); }
  void add_waits(Waits& waits) const override { network_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return network_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override;
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(Trace* trace) override { network_.record(trace); }

 private:
  struct Node {
    std::uint32_t packet = 0;  // that is being sent
    NodeNumber to = 0;
    std::uint32_t left = 0;  // of its flits
    bool begun = false;
    RoundRobin next_vc{};
    unsigned vc = 0;
    Requests with_credit = 0;  // virtual channels
  };

  void send(NodeNumber node);
  void take_what_comes();

  CycleNetwork network_;
  std::vector<Node> nodes_;
  std::vector<std::array<std::uint8_t, RouterShape::most_vcs>> credits_;  // by node and virtual channel
  NodeSet senders_;                                                       // nodes that have flits left
};

}  // namespace am::kit
