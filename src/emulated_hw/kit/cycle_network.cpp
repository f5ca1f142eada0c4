#include "emulated_hw/kit/cycle_network.hpp"

namespace am::kit {

namespace {

RouterShape shape_of(const Grid& grid, const CycleNetwork::Options& options) {
  const RouterShape shape{grid.ports(), options.num_vcs, options.vc_buf_size};
  if (shape.vcs == 0 || shape.vcs > 32 || shape.ports * shape.vcs > RouterShape::most_channels)
    throw std::invalid_argument("num_vcs has to be from 1 to " +
                                std::to_string(std::min(32u, RouterShape::most_channels / shape.ports)) +
                                " on this grid");
  if (shape.buffer == 0 || shape.buffer > RouterShape::most_buffer)
    throw std::invalid_argument("vc_buf_size has to be from 1 to " +
                                std::to_string(RouterShape::most_buffer));
  if (shape.vcs < vc_classes(grid))
    throw std::invalid_argument(
        "a grid that wraps around needs 2 virtual channels: with one, packets could wait for each other in a "
        "ring");
  return shape;
}

/// A number in which all bits of both matter.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = (a ^ std::rotl(b, 32)) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
  return z ^ z >> 32;
}

}  // namespace

CycleNetwork::CycleNetwork(const Grid& grid, const Options& options)
    : grid_(grid),
      shape_(shape_of(grid, options)),
      buffers_(std::size_t{grid.nodes()} * shape_.ports * shape_.vcs * shape_.buffer),
      routers_(grid.nodes()),
      neighbours_(std::size_t{grid.nodes()} * shape_.ports) {
  const std::uint32_t all = static_cast<std::uint32_t>(shape_.of_port(0));
  const std::uint32_t half = vc_classes(grid) == 1 ? all : (1u << shape_.vcs / 2) - 1;
  vcs_of_ = {0, half, vc_classes(grid) == 1 ? all : all & ~half, all};
  for (unsigned at = 0; at < slots; ++at) {
    flits_[at].resize(neighbours_.size());
    credits_[at].resize(neighbours_.size());
    arrivals_[at].resize(grid.nodes());
    nodes_[at].resize(grid.nodes());
    to_step_[at] = NodeSet(grid.nodes());
    to_nodes_[at] = NodeSet(grid.nodes());
  }
  for (NodeNumber node = 0; node < grid.nodes(); ++node) {
    TextbookRouter& router = routers_[node];
    router.reset(shape_, &buffers_[std::size_t{node} * shape_.ports * shape_.vcs * shape_.buffer]);
    for (unsigned port = 0; port < shape_.ports; ++port) {
      const NodeNumber next = grid.neighbour(node, port);
      if (port != 0 && next == Grid::nowhere) continue;
      if (port != 0) neighbours_[line(node, port)] = {next, static_cast<std::uint8_t>(Grid::opposite(port))};
      for (unsigned vc = 0; vc < shape_.vcs; ++vc) router.credit(shape_.channel(port, vc), shape_.buffer);
    }
  }
}

Route CycleNetwork::route(NodeNumber here, Flit flit) const noexcept {
  const Hop hop = dimension_order(grid_, here, flit.destination());
  return {static_cast<std::uint8_t>(hop.port), vcs_of_[hop.classes]};
}

void CycleNetwork::send(NodeNumber from, unsigned port, Flit flit) {
  // A sum: it does not depend on the order within a cycle.
  fingerprint_ += mixed(mixed(now_, flit.bits()), std::uint64_t{from} << 8 | port);
  last_move_ = now_;
  if (port == 0) {
    nodes_[slot(now_ + flit_delay)][from].flit = flit;
    to_nodes_[slot(now_ + flit_delay)].put(from);
  } else {
    const Neighbour& next = neighbours_[line(from, port)];
    arrive(now_ + flit_delay, next.node, next.port, flit);
  }
  if (trace_ != nullptr) [[unlikely]]
    record_passage(from, port, flit);
}

void CycleNetwork::record_injection(NodeNumber node, Flit flit) {
  if (flit.is_head()) recorded_[flit.packet()] = trace_->begins(node, flit.destination(), 0);
  trace_->passes(recorded_[flit.packet()], node, Trace::injection, now_, 1);
}

void CycleNetwork::record_passage(NodeNumber from, unsigned port, Flit flit) {
  trace_->passes(recorded_[flit.packet()], from, port, now_, 1);
}

void CycleNetwork::record_arrival(NodeNumber node) {
  if (const Flit flit = ejected(node); flit.is_tail()) trace_->comes(recorded_[flit.packet()], node, now_);
}

void CycleNetwork::freed(NodeNumber at, unsigned port, unsigned vc) noexcept {
  if (port == 0) {
    nodes_[slot(now_ + to_node_credit_delay)][at].credit = static_cast<std::uint8_t>(vc + 1);
    to_nodes_[slot(now_ + to_node_credit_delay)].put(at);
  } else {
    const Neighbour& before = neighbours_[line(at, port)];
    give_back(now_ + credit_delay, before.node, before.port, vc);
  }
}

void CycleNetwork::step(NodeNumber node) {
  const std::size_t at = slot(now_);
  TextbookRouter& router = routers_[node];
  const Arrivals arrivals = std::exchange(arrivals_[at][node], {});
  for_each(arrivals.with_flit,
           [&](unsigned port) { router.receive(shape_, port, flits_[at][line(node, port)]); });
  for_each(arrivals.with_credit,
           [&](unsigned port) { router.credit(shape_.channel(port, credits_[at][line(node, port)])); });
  const bool goes_on = router.step(
      shape_, [&](Flit flit) { return route(node, flit); },
      [&](unsigned port, Flit flit) { send(node, port, flit); },
      [&](unsigned port, unsigned vc) { freed(node, port, vc); });
  if (goes_on) to_step_[slot(now_ + 1)].put(node);
}

void CycleNetwork::step(std::span<const NodeNumber> order) {
  NodeSet& to_step = to_step_[slot(now_)];
  if (order.empty()) {
    to_step.for_each([this](NodeNumber node) { step(node); });
  } else {
    for (const NodeNumber node : order) step(node);
  }
  to_step.clear();
  to_nodes_[slot(now_)].for_each([this](NodeNumber node) { nodes_[slot(now_)][node] = {}; });
  to_nodes_[slot(now_)].clear();
  ++now_;
}

std::uint64_t CycleNetwork::flits() const noexcept {
  std::uint64_t count = 0;
  for (const TextbookRouter& router : routers_) {
    for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) count += router.count(input);
  }
  for (unsigned at = 0; at < slots; ++at) {
    for (const Arrivals& arrivals : arrivals_[at])
      count += static_cast<unsigned>(std::popcount(arrivals.with_flit));
    for (const AtNode& node : nodes_[at]) count += node.flit ? 1 : 0;
  }
  return count;
}

std::string CycleNetwork::who_waits() const {
  std::string text;
  const auto name = [&](NodeNumber node, unsigned channel) {
    return "router " + std::to_string(node) + " port " + std::to_string(channel / shape_.vcs) + " vc " +
           std::to_string(channel % shape_.vcs);
  };
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    const TextbookRouter& router = routers_[node];
    for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) {
      if (router.count(input) == 0) continue;
      const Flit flit = router.front(shape_, input);
      text += name(node, input) + ": packet " + std::to_string(flit.packet());
      if (router.is_active(input)) {
        const unsigned output = router.output_of(input);
        text += router.credits(output) == 0 ? " waits for room behind " : " waits for its turn to ";
        text += name(node, output);
      } else {
        const Route route = router.route_of(input);
        text += " waits for a channel of port " + std::to_string(route.port);
        for (unsigned other = 0; other < shape_.ports * shape_.vcs; ++other) {
          if (router.is_active(other) && router.output_of(other) / shape_.vcs == route.port)
            text +=
                ", " + std::to_string(router.output_of(other) % shape_.vcs) + " is that of packet " +
                (router.count(other) == 0 ? "behind "
                                          : std::to_string(router.front(shape_, other).packet()) + " at ") +
                name(node, other);
        }
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace am::kit
