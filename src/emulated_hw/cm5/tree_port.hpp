// The nodes of a CM-5's data networks for traffic, in place of processors and network interfaces: a message goes as soon as a link of its node
// is idle, and is taken as soon as it has come.
//
// A packet of n flits is a message of n data words, which takes 8 cycles each on a link; its frame and its address come on top. Rates are per
// node and 8 cycles: 1 is 4 bytes in 200 ns, 20 MB/s, in one network. Channels are the two networks.
//
// Assumed: a message to the own node goes up to a lowest router, and down again.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/cm5/network.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"

namespace am::cm5 {

class TreePort final : public kit::NodePort {
 public:
  /// Of 4^levels nodes. Throws std::invalid_argument.
  explicit TreePort(unsigned levels, std::uint64_t seed = 1)
      : NodePort(Tree(nodes_below(levels)).shape(), {"left", "right"}, {.least = 1, .most = most_words},
                 word_flits),
        networks_(nodes_below(levels), seed),
        rung_(nodes()) {
    for (Network& network : networks_.both) {
      for (NodeNumber node = 0; node < nodes(); ++node) {
        network.rings(network.wiring().node(node), {rung_, node});
        for (unsigned link = 0; link < Tree::links; ++link) network.accept(network.into(node, link));
      }
    }
  }

  [[nodiscard]] bool has_room(NodeNumber node, unsigned channel) const override {
    return networks_.both.at(channel).has_idle_link(node);
  }
  void inject(NodeNumber node, const Packet& packet) override {
    Message message{.to = packet.to, .length = static_cast<std::uint8_t>(packet.flits)};
    message.words[0] = packet.number;
    networks_.both.at(packet.channel).launch(node, message);
  }

  [[nodiscard]] Cycle now() const override { return networks_.now(); }
  void step(std::span<const kit::RouterNumber> order) override {
    arrivals_.clear();
    networks_.step(order);
    rung_.for_each([this](NodeNumber node) {
      for (Network& network : networks_.both) {
        for (unsigned link = 0; link < Tree::links; ++link) take(network, node, link);
      }
    });
    rung_.clear();
  }
  [[nodiscard]] bool is_empty() const override { return networks_.under_way() == 0; }
  [[nodiscard]] Cycle still_for() const override { return networks_.still_for(); }
  void add_waits(kit::Waits& waits) const override { networks_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return networks_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return latency(flits, links / 2 + 1);
  }
  /// What each was busy for, in flit times: frames and addresses are in it. A node's is both of its own.
  [[nodiscard]] std::vector<LinkCount> links() const override {
    const kit::Wiring& wiring = networks_.both[0].wiring();
    const auto busy = [this](kit::WireNumber wire) {
      return (networks_.both[0].busy(wire) + networks_.both[1].busy(wire)) / word_flits;
    };
    const auto flits = [&](const kit::Link& link) {
      if (link.port != kit::Link::of_node) return busy(wiring.out_of(link.from)[link.port]);
      const std::vector<kit::WireNumber>& its = wiring.out_of(wiring.node(link.from));
      return busy(its[0]) + busy(its[1]);
    };
    return count_links(flits, [&](kit::RouterNumber router, unsigned port) {
      return port < wiring.out_of(router).size() && wiring.out_of(router)[port] != kit::no_wire;
    });
  }
  void record(kit::Trace* trace) override { networks_.record(trace); }

 private:
  static NodeNumber nodes_below(unsigned levels) {
    if (levels < 1 || levels > 5)
      throw std::invalid_argument("cm5 has 4^n nodes, n from 1 to 5, not n=" + std::to_string(levels));
    return NodeNumber{1} << 2 * levels;
  }
  void take(Network& network, NodeNumber node, unsigned link) {
    const kit::WireNumber wire = network.into(node, link);
    if (network.front(wire) == nullptr) return;
    const Message come = network.take_at(node, wire);
    arrivals_.push_back({now(), node, come.words[0], come.length, true, true});
    network.accept(wire);
  }

  DataNetworks networks_;
  kit::NodeSet rung_;  // nodes to which something has come
};

}  // namespace am::cm5
