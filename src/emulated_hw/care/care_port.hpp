// The sites of a CARE machine for traffic. A packet of n flits is a target entry and n - 1 words of data; its terminator is one more. A node
// hands over a packet when its operator has sent the one before.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulated_hw/care/machine.hpp"
#include "emulated_hw/care/zero_load_latency.hpp"
#include "emulated_hw/kit/node_port.hpp"

namespace am::care {

class CarePort final : public kit::NodePort {
 public:
  /// As Machine.
  explicit CarePort(const kit::Topology& topology, const Options& options = {},
                    const Preferences::Strategy& strategy = Preferences::closest_first)
      : NodePort(topology, {"packet"}, {}), options_(options), machine_(topology, options, strategy) {}

  [[nodiscard]] bool has_room(NodeNumber node, unsigned /*channel*/) const override {
    return machine_.site(node).its_operator.requests().packets() == 0;
  }
  void inject(NodeNumber node, const Packet& packet) override {
    const PacketNumber number =
        machine_.send(node, {{packet.to, packet.number}}, std::vector<std::uint32_t>(packet.flits - 1));
    if (trace_ != nullptr) traced_[number] = trace_->begins(node, packet.to, 0);
  }

  [[nodiscard]] Cycle now() const override { return machine_.now(); }
  void step(std::span<const kit::RouterNumber> order) override {
    machine_.step(order);
    arrivals_.clear();
    if (trace_ != nullptr) record_step();
    for (NodeNumber node = 0; node < nodes(); ++node) {
      for (const Operator::Delivery& each : machine_.delivered(node)) {
        arrivals_.push_back({each.at, node, each.target.data_at, each.words + 1, true, true});
        if (trace_ != nullptr) trace_->comes(traced_.at(each.packet), node, each.at);
      }
      machine_.delivered(node).clear();
    }
  }
  [[nodiscard]] bool is_empty() const override { return machine_.is_empty(); }
  [[nodiscard]] Cycle still_for() const override { return machine_.still_for(); }
  void add_waits(kit::Waits& waits) const override { machine_.add_waits(waits); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return machine_.fingerprint(); }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override {
    return care::zero_load_latency(links, flits - 1, options_);
  }
  [[nodiscard]] std::vector<LinkCount> links() const override {
    return count_links([this](const kit::Link& link) {
      const Site& site = machine_.site(link.from);
      if (link.port == kit::Link::of_node) return site.inputs[local].words();
      return site.carried(link.port);
    });
  }
  void record(kit::Trace* trace) override { trace_ = trace; }

 private:
  /// Each link carries a flit in a cycle, or none.
  void record_step() {
    std::vector<LinkCount> after = links();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto& [link, flits] = after[i];
      if (flits == (recorded_.empty() ? 0 : recorded_[i].flits)) continue;
      const bool injects = link.port == kit::Link::of_node;
      const Site& site = machine_.site(link.from);
      const auto port = link.port;
      const PacketNumber packet = injects         ? site.inputs[local].packet()
                                  : port == local ? site.its_operator.received()
                                                  : site.receiver(port).packet();
      if (const auto found = traced_.find(packet); found != traced_.end())
        trace_->passes(found->second, link.from, injects ? kit::Trace::injection : port, now() - 1, 1);
    }
    recorded_ = std::move(after);
  }

  const Options options_;
  Machine machine_;
  kit::Trace* trace_ = nullptr;
  std::vector<LinkCount> recorded_{};                         // what links had carried before this step
  std::unordered_map<PacketNumber, std::uint32_t> traced_{};  // what the trace calls packets
};

}  // namespace am::care
