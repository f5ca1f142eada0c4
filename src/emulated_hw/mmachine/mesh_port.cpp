#include "emulated_hw/mmachine/mesh_port.hpp"

#include <algorithm>

namespace am::mmachine {

namespace {

constexpr unsigned stages = 4;  // turn buffers of x and y, extraction buffer, network input (mesh.hpp)

constexpr MessageKind kind_of(unsigned channel) noexcept { return static_cast<MessageKind>(channel); }
constexpr bool is_ordered(unsigned channel) noexcept {
  return kind_of(channel) == MessageKind::p0_ordered || kind_of(channel) == MessageKind::p1_ordered;
}
constexpr Priority priority_of(unsigned channel) noexcept {
  return kind_of(channel) == MessageKind::p0_ordered || kind_of(channel) == MessageKind::p0_unordered
             ? Priority::p0
             : Priority::p1;
}

kit::Grid grid_of(const Mesh::Shape& shape) { return {{shape.width}, {shape.height}}; }

}  // namespace

MeshPort::MeshPort(const Mesh::Shape& shape)
    : NodePort(grid_of(shape), {"p0_ordered", "p1_ordered", "p0_unordered", "p1_unordered"},
               {.least = words_before_body, .most = words_before_body + most_body}),
      mesh_(shape, make_units(shape)) {}

std::vector<NetworkUnits*> MeshPort::make_units(const Mesh::Shape& shape) {
  std::vector<NetworkUnits*> all;
  for (NodeNumber node = 0; node < shape.width * shape.height; ++node)
    all.push_back(&units_.emplace_back(*this, node));
  return all;
}

bool MeshPort::has_room(NodeNumber node, unsigned channel) const {
  return !units_[node].is_sending(priority_of(channel));
}

void MeshPort::inject(NodeNumber node, const Packet& packet) {
  Message message;
  message.header = {.destination = mesh_.place_of(packet.to),
                    .sender = mesh_.place_of(node),
                    .argcount = static_cast<std::uint8_t>(packet.flits - words_before_body),
                    .ordered = is_ordered(packet.channel),
                    .priority = priority_of(packet.channel)};
  message.handler = {packet.number, false};
  units_[node].send(message);
  mesh_.bell(node).ring();
  ++under_way_;
}

void MeshPort::step(std::span<const kit::RouterNumber> order) {
  arrivals_.clear();
  mesh_.step(order);
  if (!order.empty()) std::ranges::stable_sort(arrivals_, {}, &Arrival::node);
}

Cycle MeshPort::zero_load_latency(unsigned links, std::uint32_t flits) const {
  return links + stages + flits - 1;
}

std::vector<kit::NodePort::LinkCount> MeshPort::links() const {
  return count_links([this](const kit::Link& link) {
    return link.port == kit::Link::of_node ? mesh_.injected(link.from) : mesh_.passed(link.from, link.port);
  });
}

void MeshPort::Units::send(const Message& message) noexcept {
  outgoing_[index(message.header.priority)] = {message, message.flits(), message.flit(0)};
}

void MeshPort::Units::gone(Priority priority) {
  Outgoing& out = outgoing_[index(priority)];
  if (--out.left != 0) out.next = out.message.flit(out.message.flits() - out.left);
}

/// The packet's number comes with the second flit: the header's is told of then.
void MeshPort::Units::deliver(Priority priority, const Flit& flit) {
  Incoming& in = incoming_[index(priority)];
  const unsigned at = in.come++;
  if (at == 0) return;
  if (at == 1) in.packet = static_cast<std::uint32_t>(flit.word.bits);
  port_.arrivals_.push_back({.at = port_.now() + 1,
                             .node = node_,
                             .packet = in.packet,
                             .flits = at == 1 ? 2u : 1u,
                             .head = at == 1,
                             .tail = flit.tail});
  if (!flit.tail) return;
  in.come = 0;
  --port_.under_way_;
}

}  // namespace am::mmachine
