#include "emulated_hw/care/care_port.hpp"

#include "emulated_hw/care/zero_load_latency.hpp"

namespace am::care {

CarePort::CarePort(const kit::Topology& topology, const Options& options,
                   const Preferences::Strategy& strategy)
    : NodePort(topology, {"packet"}, {}), options_(options), machine_(topology, options, strategy) {}

void CarePort::inject(NodeNumber node, const Packet& packet) {
  const PacketNumber number =
      machine_.send(node, {{packet.to, packet.number}}, std::vector<std::uint32_t>(packet.flits - 1));
  if (trace_ != nullptr) traced_[number] = trace_->begins(node, packet.to, 0);
}

void CarePort::step(std::span<const kit::RouterNumber> order) {
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

/// Each link carries a flit in a cycle, or none.
void CarePort::record_step() {
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

Cycle CarePort::zero_load_latency(unsigned links, std::uint32_t flits) const {
  return care::zero_load_latency(links, flits - 1, options_);
}

std::vector<kit::NodePort::LinkCount> CarePort::links() const {
  return count_links([this](const kit::Link& link) {
    const Site& site = machine_.site(link.from);
    if (link.port == kit::Link::of_node) return site.inputs[local].words();
    return site.carried(link.port);
  });
}

}  // namespace am::care
