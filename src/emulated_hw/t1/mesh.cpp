#include "emulated_hw/t1/mesh.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"
#include "emulated_hw/kit/text.hpp"

namespace am::t1 {

namespace {

using kit::text_of;

Header header_of(const Message& message) noexcept { return {message.destination, message.multicast}; }

const char* name_of(Priority priority) { return priority == Priority::high ? "high" : "low"; }

// As kit::Waits names them. Of the classes of a ring's channels, one is named.
std::string place_of(NodeNumber node, unsigned input) {
  return text_of("node ", node, " port ", input / vcs, ' ', name_of(priority_of(input)),
                 input == channel(input / vcs, priority_of(input), 1) ? " class 1" : "");
}

}  // namespace

std::string place_in_interface(NodeNumber node, Priority priority) {
  return text_of("node ", node, " interface ", name_of(priority));
}

Mesh::Mesh(const Shape& shape, const std::function<NetworkInterface*(NodeNumber)>& interface_of)
    : shape_(shape), grid_(grid_of(shape)), routers_(grid_.nodes()), to_step_(grid_.nodes()) {
  if (shape.buffers == 0 || shape.buffers > 255)
    throw std::invalid_argument(text_of("t1: buffers of ", shape.buffers, " messages: 1 to 255"));
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    for (unsigned output = 0; output < channels; ++output) {
      const bool leads_on = grid_.neighbour(node, output / vcs) != kit::Grid::nowhere;
      const unsigned room = output < vcs ? node_buffers : leads_on ? shape.buffers : 0;
      routers_[node].room[output] = static_cast<std::uint8_t>(room);
    }
    interfaces_.push_back(interface_of(node));
    interfaces_.back()->rings({to_step_, node});
    to_step_.put(node);  // what it has been given so far
  }
}

Mesh::~Mesh() {
  for (NetworkInterface* const interface : interfaces_) interface->rings({});
}

void Mesh::step(std::span<const NodeNumber> order) {
  credits_.take(now_, [this](const Credit& credit) { ++routers_[credit.node].room[credit.output]; });
  if (order.empty()) {
    to_step_.for_each([this](NodeNumber node) { step(node); });
  } else {
    for (const NodeNumber node : order) step(node);
  }
  ++now_;
}

void Mesh::step(NodeNumber node) {
  deliver(node);
  inject(node);
  if (routers_[node].occupied != 0) route(node);
  if (!has_something_to_do(node)) to_step_.erase(node);
}

bool Mesh::has_something_to_do(NodeNumber node) const noexcept {
  const Router& router = routers_[node];
  const NetworkInterface& ni = *interfaces_[node];
  return router.occupied != 0 || !router.to_node[0].empty() || !router.to_node[1].empty() ||
         ni.outgoing(Priority::low) || ni.outgoing(Priority::high);
}

void Mesh::deliver(NodeNumber node) {
  for (const Priority priority : {Priority::high, Priority::low}) {
    std::deque<Packet>& waiting = routers_[node].to_node[index(priority)];
    if (waiting.empty() || waiting.front().leaves_at > now_ || !interfaces_[node]->has_room(priority))
      continue;
    interfaces_[node]->deliver(waiting.front().message);
    if (trace_ != nullptr) [[unlikely]]
      trace_->comes(waiting.front().recorded, node, now_);
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
      throw Exception(text_of("node ", node, ": a message to node ", out->destination,
                              ", outside the mesh of ", grid_.nodes()));
    const unsigned input = channel(0, priority, 0);
    if (router.inputs[input].size() >= shape_.buffers) continue;
    router.put(input, {*out, node, 0, now_ + link_cycles + router_cycles, record(node, *out)});
    ++under_way_;
    router.interface_free_at = now_ + out->flits();
    router.injected += out->flits();
    interfaces_[node]->gone(priority);
    last_move_ = now_;
    return;
  }
}

std::uint32_t Mesh::record(NodeNumber from, const Message& message) {
  if (trace_ == nullptr) [[likely]]
    return kit::Trace::nothing;
  const std::uint32_t number =
      trace_->begins(from, message.destination, index(message.priority) + (message.multicast ? 2 : 0));
  trace_->passes(number, from, kit::Trace::injection, now_, message.flits());
  return number;
}

void Mesh::route(NodeNumber node) {
  Router& router = routers_[node];
  kit::Ports free_inputs = 0, free_outputs = 0;
  for (unsigned port = 0; port < ports; ++port) {
    if (router.input_free_at[port] <= now_) free_inputs |= kit::port_bit(port);
    if (router.output_free_at[port] <= now_) free_outputs |= kit::port_bit(port);
  }
  decide(
      grid_, node, router.occupied, free_inputs, free_outputs, router.turns, shape_.patience,
      [&](unsigned input) -> std::optional<Header> {
        const Packet& packet = router.inputs[input].front();
        if (packet.leaves_at > now_) return std::nullopt;
        return header_of(packet.message);
      },
      [&](unsigned /*input*/, unsigned output) { return router.room[output] != 0; },
      [&](unsigned /*input*/, unsigned output) { ++router.counts[output / vcs].refused; },
      [&](unsigned input, const Way& way) { start(node, input, way); });
}

void Mesh::start(NodeNumber node, unsigned input, const Way& way) {
  Router& router = routers_[node];
  const Packet packet = router.inputs[input].front();
  router.inputs[input].pop_front();
  if (router.inputs[input].empty()) router.occupied &= ~kit::request(input);
  --under_way_;
  const unsigned in = input / vcs;
  const unsigned flits = packet.message.flits();
  router.input_free_at[in] = now_ + flits;
  if (in != 0)  // of the interface's channel inject() sees itself what room it has
    give_back(now_ + flits - 1 + credit_cycles, grid_.neighbour(node, in),
              kit::Grid::opposite(in) * vcs + input % vcs);
  for (const std::uint8_t output : way.outputs()) {
    const unsigned port = output / vcs;
    ++under_way_;
    --router.room[output];
    router.output_free_at[port] = now_ + flits;
    router.counts[port].flits += flits;
    fingerprint_ += kit::mixed(kit::mixed(now_, node * channels + output),
                               packet.message.scalar[0] + std::uint64_t{packet.source} * most_nodes);
    if (trace_ != nullptr) [[unlikely]]
      trace_->passes(packet.recorded, node, port, now_, flits);
    if (port == 0) {
      router.to_node[index(packet.message.priority)].push_back(
          {packet.message, packet.source, in, now_ + link_cycles + flits - 1, packet.recorded});
    } else {
      const NodeNumber neighbour = grid_.neighbour(node, port);
      const unsigned to = kit::Grid::opposite(port);
      routers_[neighbour].put(to * vcs + output % vcs, {packet.message, packet.source, to,
                                                        now_ + link_cycles + router_cycles, packet.recorded});
      to_step_.put(neighbour);
    }
  }
  last_move_ = now_;
}

/// Who it is that a message waits for when there is no room behind an output: for people, and as a place.
Mesh::Filled Mesh::filled(NodeNumber node, unsigned output) const {
  const unsigned port = output / vcs;
  if (port == 0) {
    const std::string here = text_of("node ", node);
    return {text_of(", where ", here, " takes none of that priority"), here};
  }
  const NodeNumber next = grid_.neighbour(node, port);
  const unsigned input = kit::Grid::opposite(port) * vcs + output % vcs;
  const std::deque<Packet>& full = routers_[next].inputs[input];
  std::string text = text_of(", no room at node ", next);
  text += full.empty() ? " yet"
                       : text_of(" behind that from node ", full.front().source, " to node ",
                                 full.front().message.destination);
  return {std::move(text), place_of(next, input)};
}

/// Messages that have no room in the router yet: their processor's next SEND fails.
void Mesh::add_who_waits_to_enter(NodeNumber node, kit::Waits& waits) const {
  for (const Priority priority : {Priority::low, Priority::high}) {
    const std::optional<Message>& out = interfaces_[node]->outgoing(priority);
    const std::deque<Packet>& full = routers_[node].inputs[channel(0, priority, 0)];
    if (!out || full.empty()) continue;
    waits.add(place_in_interface(node, priority),
              text_of("node ", node, ": a ", name_of(priority), " message to node ", out->destination,
                      " in its interface waits behind that to node ", full.front().message.destination),
              {place_of(node, channel(0, priority, 0))});
  }
}

void Mesh::add_who_waits(NodeNumber node, unsigned input, kit::Waits& waits) const {
  const Packet& packet = routers_[node].inputs[input].front();
  std::string line =
      text_of("node ", node, ": a ", name_of(packet.message.priority), " message from node ", packet.source,
              " to node ", packet.message.destination, " at port ", input / vcs);
  std::vector<std::string> behind;
  const Way way = way_of(grid_, node, input, header_of(packet.message));
  for (const std::uint8_t output : way.outputs()) {
    line += text_of(output == way.output[0] ? " waits for port " : " and port ", output / vcs);
    if (routers_[node].room[output] != 0) continue;
    Filled by = filled(node, output);
    line += by.text;
    behind.push_back(std::move(by.place));
  }
  waits.add(place_of(node, input), std::move(line), std::move(behind));
}

void Mesh::add_waits(kit::Waits& waits) const {
  for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
    add_who_waits_to_enter(node, waits);
    kit::for_each(routers_[node].occupied, [&](unsigned input) { add_who_waits(node, input, waits); });
  }
}

}  // namespace am::t1
