#include "emulated_hw/care/machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::care {

Machine::Machine(const kit::Topology& topology, const Options& options, const Preferences::Strategy& strategy)
    : kit::Machine("care"),
      options_(options),
      preferences_(topology, strategy),
      awake_(kit::nodes_of(topology)) {
  if (options.buffer_size == 0 || options.requests == 0)
    throw std::invalid_argument("care: a buffer of no size (none is unbounded)");
  if (options.timeouts.limit == 0) throw std::invalid_argument("care: a timeout of no time");
  if (options.fidelity == Fidelity::two_events && options.timeouts.kind == Timeouts::Kind::pads)
    throw std::invalid_argument("care: there are no pads to count where words do not travel");
  const NodeNumber nodes = kit::nodes_of(topology);
  for (NodeNumber node = 0; node < nodes; ++node)
    sites_.push_back(std::make_unique<Site>(node, preferences_, options_, counts_));
  for (NodeNumber node = 0; node < nodes; ++node) {
    for (unsigned port = 1; port < kit::ports_of(topology); ++port) {
      const NodeNumber there = kit::neighbour(topology, node, port);
      if (there != kit::nowhere)
        sites_[node]->is_wired(port, *sites_[there], kit::opposite(topology, node, port));
    }
  }
}

PacketNumber Machine::send(NodeNumber from, const std::vector<Target>& targets,
                           std::vector<std::uint32_t> data) {
  if (targets.empty()) throw std::invalid_argument("care: a packet to no site");
  for (const Target& target : targets) {
    if (target.site >= nodes())
      throw std::invalid_argument("care: a packet to site " + std::to_string(target.site) + " of " +
                                  std::to_string(nodes()));
  }
  const auto words = static_cast<std::uint32_t>(data.size());
  sites_.at(from)->its_operator.request({++last_packet_, targets, std::move(data), words});
  awake_.put(from);
  moved_at_ = cycles_;
  return last_packet_;
}

void Machine::step(std::span<const NodeNumber> order) {
  stepped_.clear();
  if (order.empty()) {
    awake_.for_each([this](NodeNumber node) { stepped_.push_back(node); });
  } else {
    stepped_.assign(order.begin(), order.end());
  }
  for (const NodeNumber node : stepped_) sites_[node]->odd_phase(cycles_);
  for (const NodeNumber node : stepped_) sites_[node]->even_phase(cycles_);
  for (const NodeNumber node : stepped_) {
    if (sites_[node]->is_idle()) awake_.erase(node);
  }
  for (const NodeNumber node : stepped_) end_cycle(node);
  ++cycles_;
}

/// Who is shown something is awake in the next cycle.
void Machine::end_cycle(NodeNumber node) {
  const Site& site = *sites_[node];
  if (site.is_idle()) return;
  moved_at_ = std::max(moved_at_, site.moved_at());
  for (unsigned port = 1; port < site.ports(); ++port) {
    if (!site.outputs[port].is_idle()) awake_.put(kit::neighbour(topology(), node, port));
  }
}

std::uint64_t Machine::fingerprint() const noexcept {
  std::uint64_t all = 0;
  for (const auto& site : sites_) all += site->fingerprint();
  return all;
}

std::uint64_t Machine::link_words() const noexcept {
  std::uint64_t all = 0;
  for (const auto& site : sites_) {
    for (PortNumber port = 1; port < site->ports(); ++port) all += site->carried(port);
  }
  return all;
}

}  // namespace am::care
