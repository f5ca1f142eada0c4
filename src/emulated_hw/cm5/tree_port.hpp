// The nodes of a CM-5's data networks for traffic, in place of processors and network interfaces: a message goes as soon as a link of its node
// is idle, and is taken as soon as it has come.
//
// A packet of n flits is a message of n data words, which takes 8 cycles each on a link; its frame and its address come on top. Rates are per
// node and 8 cycles: 1 is 4 bytes in 200 ns, 20 MB/s, in one network. Channels are the two networks.
//
// Assumed: a message to the own node goes up to a lowest router, and down again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulated_hw/cm5/network.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::cm5 {

class TreePort final : public kit::NodePort {
 public:
  /// Of 4^levels nodes. Throws std::invalid_argument.
  explicit TreePort(unsigned levels, std::uint64_t seed = 1);

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override {
    return network(channel).has_idle_link(node);
  }
  void inject(NodeNumber node, const Packet& packet) override;

  [[nodiscard]] Cycle now() const override { return network(0).now(); }
  void step(std::span<const kit::RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override {
    return network(0).under_way() + network(1).under_way() == 0;
  }
  [[nodiscard]] Cycle still_for() const override {
    return std::min(network(0).still_for(), network(1).still_for());
  }
  void add_waits(kit::Waits& waits) const override {
    for (const Side side : sides) networks_[side].add_waits(waits);
  }
  [[nodiscard]] std::uint64_t fingerprint() const override {
    return kit::mixed(network(0).fingerprint(), network(1).fingerprint());
  }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return latency(flits, links / 2 + 1);
  }
  /// What each was busy for, in flit times: frames and addresses are in it. A node's is both of its own.
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(kit::Trace* trace) override;

 private:
  [[nodiscard]] Network& network(unsigned channel) noexcept { return networks_[sides.at(channel)]; }
  [[nodiscard]] const Network& network(unsigned channel) const noexcept {
    return networks_[sides.at(channel)];
  }
  void take(Network& network, NodeNumber node, unsigned link);

  DataNetworks networks_;
  kit::NodeSet rung_;  // nodes to which something has come
};

}  // namespace am::cm5
