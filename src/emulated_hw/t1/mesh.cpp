#include "emulated_hw/t1/mesh.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace am::t1 {

namespace {

kit::Grid grid_of(const Mesh::Shape& shape) {
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > Mesh::most_nodes ||
      shape.columns > Mesh::most_nodes || shape.rows * shape.columns > Mesh::most_nodes)
    throw std::invalid_argument("t1: a mesh of " + std::to_string(shape.rows) + " rows and " +
                                std::to_string(shape.columns) + " columns: it has 1 to " +
                                std::to_string(Mesh::most_nodes) + " nodes");
  return {{.extent = shape.columns, .wraps = shape.wraps}, {.extent = shape.rows, .wraps = false}};
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = (a ^ b) * 0x9e3779b97f4a7c15u;
  return z ^ z >> 29;
}

}  // namespace

Mesh::Mesh(const Shape& shape, std::vector<NetworkInterface*> interfaces)
    : shape_(shape), grid_(grid_of(shape)), interfaces_(std::move(interfaces)), routers_(grid_.nodes()) {
  if (interfaces_.size() != grid_.nodes())
    throw std::invalid_argument("t1: a mesh of " + std::to_string(shape.rows) + "x" +
                                std::to_string(shape.columns) + " for " + std::to_string(interfaces_.size()) +
                                " nodes");
  if (shape.buffers == 0 || shape.buffers > 255)
    throw std::invalid_argument("t1: buffers of " + std::to_string(shape.buffers) + " messages: 1 to 255");
  if (shape.patience > kit::PacketTurns::most_patience)
    throw std::invalid_argument("t1: a patience of " + std::to_string(shape.patience) + ": at most 255");
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    for (unsigned port = 0; port < ports; ++port) {
      const bool leads_on = grid_.neighbour(node, port) != kit::Grid::nowhere;
      for (unsigned vc = 0; vc < vcs; ++vc)
        routers_[node].room[port * vcs + vc] = static_cast<std::uint8_t>(port == 0  ? node_buffers
                                                                         : leads_on ? shape.buffers
                                                                                    : 0);
    }
  }
}

// A multicast keeps its direction, also where the other one would be as short: it may be on its way round to its sender.
Mesh::Hop Mesh::next_hop(const kit::Grid& grid, NodeNumber here, unsigned in, const Message& message) {
  const NodeNumber there = message.destination;
  const bool all_the_way = message.multicast && here == there && in == 0 && grid.dimension(0).wraps &&
                           grid.dimension(0).extent > 1;
  const bool along_the_row = in == kit::Grid::up(0) || in == kit::Grid::down(0);
  const std::uint32_t at = grid.at(here, 0);
  const std::uint32_t to = grid.at(there, 0);
  if (all_the_way || (message.multicast && along_the_row && at != to && grid.dimension(0).wraps)) {
    const bool goes_up = all_the_way || in == kit::Grid::down(0);  // it came from below
    const bool passes_edge = all_the_way || (goes_up ? at > to : at < to);
    return {goes_up ? kit::Grid::up(0) : kit::Grid::down(0), passes_edge ? 0u : 1u};
  }
  const kit::Hop hop = kit::dimension_order(grid, here, there);
  return {hop.port, hop.classes == 0b10 ? 1u : 0u};
}

Mesh::Way Mesh::way_of(NodeNumber node, const Packet& packet) const {
  Way way;
  const auto add = [&](unsigned port, unsigned vc_class) {
    way.ports |= kit::port_bit(port);
    way.outputs[way.count++] = static_cast<std::uint8_t>(channel(port, packet.message.priority, vc_class));
  };
  const Hop hop = next_hop(grid_, node, packet.in, packet.message);
  add(hop.port, hop.vc_class);
  if (packet.message.multicast && hop.port != 0 && packet.in != 0) add(0, 0);
  return way;
}

void Mesh::step(std::span<const NodeNumber> order) {
  for (const Credit& credit : credits_[now_ % most_delay]) ++routers_[credit.node].room[credit.output];
  credits_[now_ % most_delay].clear();
  const auto all = [&](auto what) {
    if (order.empty()) {
      for (NodeNumber node = 0; node < grid_.nodes(); ++node) what(node);
    } else {
      for (const NodeNumber node : order) what(node);
    }
  };
  all([&](NodeNumber node) {
    deliver(node);
    inject(node);
    if (routers_[node].waiting != 0) route(node);
  });
  ++now_;
}

void Mesh::deliver(NodeNumber node) {
  for (const Priority priority : {Priority::high, Priority::low}) {
    std::deque<Packet>& waiting = routers_[node].to_node[index(priority)];
    if (waiting.empty() || waiting.front().leaves_at > now_ || !interfaces_[node]->has_room(priority))
      continue;
    interfaces_[node]->deliver(waiting.front().message);
    waiting.pop_front();
    give_back(now_ + credit_cycles, node, channel(0, priority, 0));
    --under_way_;
    last_move_ = now_;
  }
}

void Mesh::inject(NodeNumber node) {
  Router& router = routers_[node];
  if (router.interface_free_at > now_) return;
  for (const Priority priority : {Priority::high, Priority::low}) {
    const std::optional<Message>& out = interfaces_[node]->outgoing(priority);
    if (!out) continue;
    if (out->destination >= grid_.nodes())
      throw Exception("node " + std::to_string(node) + ": a message to node " +
                      std::to_string(out->destination) + ", outside the mesh of " +
                      std::to_string(grid_.nodes()));
    std::deque<Packet>& input = router.inputs[channel(0, priority, 0)];
    if (input.size() >= shape_.buffers) continue;
    input.push_back({*out, node, 0, now_ + link_cycles + router_cycles});
    ++router.waiting;
    ++under_way_;
    router.interface_free_at = now_ + out->flits();
    interfaces_[node]->gone(priority);
    last_move_ = now_;
    return;
  }
}

void Mesh::route(NodeNumber node) {
  Router& router = routers_[node];
  kit::PacketTurns::Ready ready;
  std::array<Way, channels> ways;
  kit::Ports free_inputs = 0, free_outputs = 0;
  for (unsigned port = 0; port < ports; ++port) {
    if (router.input_free_at[port] <= now_) free_inputs |= kit::port_bit(port);
    if (router.output_free_at[port] <= now_) free_outputs |= kit::port_bit(port);
  }
  for (unsigned input = 0; input < channels; ++input) {
    if (router.inputs[input].empty() || router.inputs[input].front().leaves_at > now_) continue;
    const Packet& packet = router.inputs[input].front();
    const Way way = way_of(node, packet);
    const auto outputs = std::span(way.outputs).first(way.count);
    const auto full =
        std::ranges::find_if(outputs, [&](std::uint8_t output) { return router.room[output] == 0; });
    if (full != outputs.end()) {
      ++router.counts[*full / vcs].refused;
      continue;
    }
    (packet.message.priority == Priority::high ? ready.high : ready.low) |= kit::request(input);
    ready.wants[input] = way.ports;
    ready.port_of[input] = static_cast<std::uint8_t>(input / vcs);
    ways[input] = way;
  }
  if ((ready.high | ready.low) == 0) return;
  router.turns.decide(ready, free_inputs, free_outputs, shape_.patience,
                      [&](unsigned input) { start(node, input, ways[input]); });
}

void Mesh::start(NodeNumber node, unsigned input, const Way& way) {
  Router& router = routers_[node];
  const Packet packet = router.inputs[input].front();
  router.inputs[input].pop_front();
  --router.waiting;
  --under_way_;
  const unsigned in = input / vcs;
  const unsigned flits = packet.message.flits();
  router.input_free_at[in] = now_ + flits;
  if (in != 0)  // of the interface's channel inject() sees itself what room it has
    give_back(now_ + flits - 1 + credit_cycles, grid_.neighbour(node, in),
              kit::Grid::opposite(in) * vcs + input % vcs);
  for (const std::uint8_t output : std::span(way.outputs).first(way.count)) {
    const unsigned port = output / vcs;
    ++under_way_;
    --router.room[output];
    router.output_free_at[port] = now_ + flits;
    router.counts[port].flits += flits;
    trace_ += mixed(mixed(now_, node * channels + output),
                    packet.message.scalar[0] + std::uint64_t{packet.source} * most_nodes);
    if (port == 0) {
      router.to_node[index(packet.message.priority)].push_back(
          {packet.message, packet.source, in, now_ + link_cycles + flits - 1});
    } else {
      Router& next = routers_[grid_.neighbour(node, port)];
      const unsigned to = kit::Grid::opposite(port);
      next.inputs[to * vcs + output % vcs].push_back(
          {packet.message, packet.source, to, now_ + link_cycles + router_cycles});
      ++next.waiting;
    }
  }
  last_move_ = now_;
}

std::string Mesh::who_waits() const {
  std::string text;
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    for (unsigned input = 0; input < channels; ++input) {
      if (routers_[node].inputs[input].empty()) continue;
      const Packet& packet = routers_[node].inputs[input].front();
      const Way way = way_of(node, packet);
      text += "node " + std::to_string(node) + ": a " +
              (packet.message.priority == Priority::high ? "high" : "low") + " message from node " +
              std::to_string(packet.source) + " to node " + std::to_string(packet.message.destination) +
              " at port " + std::to_string(input / vcs);
      for (unsigned i = 0; i < way.count; ++i) {
        text += (i == 0 ? " waits for port " : " and port ") + std::to_string(way.outputs[i] / vcs);
        if (routers_[node].room[way.outputs[i]] == 0) text += " (no room)";
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace am::t1
