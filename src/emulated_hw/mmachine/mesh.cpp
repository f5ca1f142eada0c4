#include "emulated_hw/mmachine/mesh.hpp"

#include <stdexcept>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::mmachine {

namespace {

kit::Grid grid_of(const Mesh::Shape& shape, std::size_t nodes) {
  const std::string size = std::to_string(shape.width) + "x" + std::to_string(shape.height);
  if (shape.width == 0 || shape.height == 0 || shape.width > Mesh::most_extent ||
      shape.height > Mesh::most_extent)
    throw std::invalid_argument("mmachine: a mesh of " + size + ": 1x1 to 32x32");
  if (nodes != std::size_t{shape.width} * shape.height)
    throw std::invalid_argument("mmachine: a mesh of " + size + " for " + std::to_string(nodes) + " nodes");
  if (shape.channels != 2 && shape.channels != most_channels)
    throw std::invalid_argument("mmachine: " + std::to_string(shape.channels) +
                                " virtual channels: 4, or the prototype's 2");
  return {{shape.width, false}, {shape.height, false}};
}

}  // namespace

/// A router's, in one step.
class Mesh::Ports final : public RouterPorts {
 public:
  Ports(Mesh& mesh, NodeNumber node) noexcept : mesh_(mesh), node_(node), units_(*mesh.nodes_[node]) {}

  const Flit* injected(Priority priority) override { return units_.outgoing(priority); }
  std::uint32_t taken(Priority priority) override {
    std::uint32_t recorded = kit::Trace::nothing;
    if (mesh_.trace_ != nullptr) [[unlikely]]
      recorded = mesh_.record_injection(node_, priority, *units_.outgoing(priority));
    units_.gone(priority);
    ++mesh_.injected_[node_];
    ++mesh_.under_way_;
    mesh_.last_move_ = mesh_.now_;
    return recorded;
  }
  void send(Direction side, unsigned channel, const Flit& flit) override {
    mesh_.moved(flit.word.bits + channel, node_ * directions + index(side));
    mesh_.passes(node_, 1 + index(mesh_.way_of(node_, side)), flit);
    const kit::Place there = mesh_.behind(node_, side);
    if (there.router == kit::nowhere) return lose(side, channel);
    Coming& coming = mesh_.coming(mesh_.now_ + link_cycles, there);
    coming.flit = flit;
    coming.channel = static_cast<std::uint8_t>(channel + 1);
    if (mesh_.disturbance_) mesh_.disturbance_(node_, coming.flit);
    mesh_.to_step_.put(mesh_.now_ + link_cycles, there.router);
  }
  void freed(Direction side, unsigned channel) override {
    const kit::Place there = mesh_.behind(node_, side);
    if (there.router != kit::nowhere) tell(there, channel);
  }
  bool accepts(Priority priority) override { return units_.has_room(priority); }
  void extracted(Priority priority, const Flit& flit) override {
    mesh_.moved(flit.word.bits, ~node_);
    mesh_.passes(node_, 0, flit);
    if (mesh_.trace_ != nullptr && flit.tail) [[unlikely]]
      mesh_.trace_->comes(flit.recorded, node_, mesh_.now_ + 1);
    --mesh_.under_way_;
    units_.deliver(priority, flit);
  }

 private:
  void tell(const kit::Place& there, unsigned channel) {
    const Cycle when = mesh_.now_ + mesh_.shape_.vacancy_delay;
    mesh_.coming(when, there).vacancy = static_cast<std::uint8_t>(channel + 1);
    mesh_.to_step_.put(when, there.router);
  }
  // As if somebody had taken it.
  void lose(Direction side, unsigned channel) {
    ++mesh_.lost_;
    --mesh_.under_way_;
    tell({node_, index(side)}, channel);
  }

  Mesh& mesh_;
  NodeNumber node_;
  NetworkUnits& units_;
};

Mesh::Mesh(const Shape& shape, std::vector<NetworkUnits*> nodes)
    : shape_(shape),
      grid_(grid_of(shape, nodes.size())),
      nodes_(std::move(nodes)),
      mirrored_(grid_.nodes()),
      to_step_(grid_.nodes(), slots),
      sending_(grid_.nodes()),
      passed_(grid_.nodes()),
      injected_(grid_.nodes()),
      injecting_(grid_.nodes()) {
  if (shape.vacancy_delay == 0 || shape.vacancy_delay >= slots)
    throw std::invalid_argument("mmachine: a vacancy that is known " + std::to_string(shape.vacancy_delay) +
                                " cycles later: 1 to 7");
  routers_.reserve(grid_.nodes());
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    routers_.emplace_back(place_of(node), shape.channels);
    sending_.put(node);  // what it has been given so far
  }
  for (auto& of_cycle : coming_) of_cycle.resize(std::size_t{grid_.nodes()} * directions);
}

NodePlace Mesh::place_of(NodeNumber node) const noexcept {
  return {static_cast<std::uint8_t>(node % shape_.width), static_cast<std::uint8_t>(node / shape_.width)};
}

/// Which node a side's pins lead to, and which of its sides; ports here are sides.
kit::Place Mesh::behind(NodeNumber node, Direction side) const noexcept {
  const Direction way = way_of(node, side);
  const NodeNumber there = grid_.neighbour(node, 1 + index(way));
  if (there == kit::nowhere) return {};
  return {there, index(mirrored_[there][dimension_of(side)] ? way : opposite(way))};
}

void Mesh::moved(std::uint64_t what, NodeNumber where) noexcept {
  // A sum: it does not depend on the order within a cycle.
  fingerprint_ += kit::mixed(kit::mixed(now_, where), what);
  last_move_ = now_;
}

void Mesh::passes(NodeNumber node, unsigned port, const Flit& flit) {
  ++passed_[node][port];
  if (trace_ != nullptr) [[unlikely]]
    trace_->passes(flit.recorded, node, port, now_, 1);
}

std::uint32_t Mesh::record_injection(NodeNumber from, Priority priority, const Flit& flit) {
  auto& [recorded, begun] = injecting_[from][index(priority)];
  if (!begun) {
    const Header header = Header::of(flit.word.bits);
    recorded = trace_->begins(from, number_of(header.destination), static_cast<unsigned>(header.kind()));
  }
  begun = !flit.tail;
  trace_->passes(recorded, from, kit::Trace::injection, now_, 1);
  return recorded;
}

void Mesh::step(std::span<const NodeNumber> order) {
  sending_.for_each([&](NodeNumber node) {
    to_step_.put(now_, node);
    if (!nodes_[node]->has_outgoing()) sending_.erase(node);
  });
  if (!order.empty()) to_step_.clear(now_);
  to_step_.take(now_, [this](NodeNumber node) { step(node); });
  for (const NodeNumber node : order) step(node);
  ++now_;
}

void Mesh::step(NodeNumber node) {
  Router& router = routers_[node];
  for (unsigned side = 0; side < directions; ++side) {
    const Coming come = std::exchange(coming(now_, {node, side}), {});
    if (come.channel != 0) router.receive(static_cast<Direction>(side), come.channel - 1u, come.flit);
    if (come.vacancy != 0) router.vacancy(static_cast<Direction>(side), come.vacancy - 1u);
  }
  Ports ports(*this, node);
  router.step(ports);
  if (!router.is_idle()) to_step_.put(now_ + 1, node);
}

void Mesh::add_waits(kit::Waits& waits) const {
  for (NodeNumber node = 0; node < nodes(); ++node) {
    routers_[node].add_waits(waits, [&](Direction side, unsigned channel) -> std::string {
      const kit::Place there = behind(node, side);
      if (there.router == kit::nowhere) return "the edge";
      return routers_[there.router].place_of(static_cast<Direction>(there.port), channel);
    });
  }
}

}  // namespace am::mmachine
