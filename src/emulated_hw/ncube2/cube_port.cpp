#include "emulated_hw/ncube2/cube_port.hpp"

namespace am::ncube2 {

namespace {

using kit::Hypercube;

constexpr unsigned least_flits = 2;  // an address, and the packet's number

}  // namespace

CubePort::CubePort(unsigned dimensions)
    : NodePort(Hypercube(dimensions), {"message"}, {.least = least_flits}, Router::flit_cycles),
      network_(dimensions),
      outputs_(std::size_t{nodes()} * (dimensions + 1)),
      inputs_(outputs_.size()),
      carried_(std::size_t{nodes()} * (dimensions + 2)),
      senders_(nodes()),
      rung_(nodes()) {
  for (NodeNumber node = 0; node < nodes(); ++node) {
    network_.rings(network_.wiring().node(node), {rung_, node});
    for (unsigned dimension = 0; dimension < dimensions; ++dimension)
      network_.accept(network_.into(node, dimension));
  }
}

void CubePort::inject(NodeNumber node, const Packet& packet) {
  outputs_[engine(node, engine_to(node, packet.to))].packets.push_back(packet);
  senders_.put(node);
  ++under_way_;
}

void CubePort::step(std::span<const kit::RouterNumber> order) {
  arrivals_.clear();
  senders_.for_each([this](NodeNumber node) {
    senders_.erase(node);
    for (unsigned dimension = 0; dimension < network_.dimensions(); ++dimension) send(node, dimension);
    send_to_itself(node);
  });
  network_.step(order);
  rung_.for_each([this](NodeNumber node) {
    for (unsigned dimension = 0; dimension < network_.dimensions(); ++dimension) take(node, dimension);
    take_from_itself(node);
  });
  rung_.clear();
}

/// The next flit, when the one before is on its way.
void CubePort::send(NodeNumber node, unsigned dimension) {
  Output& output = outputs_[engine(node, dimension)];
  if (output.packets.empty()) return;
  senders_.put(node);
  const kit::WireNumber wire = network_.out_of(node, dimension);
  if (!network_.is_drained(wire)) return;
  const Packet& packet = output.packets.front();
  if (output.sent == 0) record_begin(node, output);
  if (trace_ != nullptr) trace_->passes(output.recorded, node, kit::Trace::injection, now(), 1);
  const bool is_over = output.sent == packet.flits;
  const Word word = output.sent == 0 ? Address{.node = packet.to}.word() : packet.number;
  network_.send(
      wire, {is_over ? 0 : word, static_cast<std::uint8_t>(is_over ? Tag::end : Tag::word), output.recorded});
  ++output.sent;
  if (!is_over) return;
  count(node, packet);
  output.sent = 0;
  output.packets.pop_front();
}

/// Nothing carries it: it is there when its time is over.
void CubePort::send_to_itself(NodeNumber node) {
  Output& output = outputs_[engine(node, network_.dimensions())];
  if (output.packets.empty()) return;
  senders_.put(node);
  last_to_itself_ = now();
  const std::uint32_t flits = output.packets.front().flits;
  if (output.sent == 0) {
    record_begin(node, output);
    if (trace_ != nullptr) {
      trace_->passes(output.recorded, node, kit::Trace::injection, now(), flits + 1);
      trace_->passes(output.recorded, node, 0, now(), flits + 1);
    }
  }
  if (++output.sent > zero_load_latency(0, flits)) rung_.put(node);
}

void CubePort::record_begin(NodeNumber node, Output& output) {
  if (trace_ != nullptr) output.recorded = trace_->begins(node, output.packets.front().to, 0);
}

/// Whatever has come: the end of a message may come with its last word.
void CubePort::take(NodeNumber node, unsigned dimension) {
  const kit::WireNumber wire = network_.into(node, dimension);
  Input& input = inputs_[engine(node, dimension)];
  while (const Network::Flit* const flit = network_.front(wire)) {
    if (flit->tag == static_cast<std::uint8_t>(Tag::word)) {
      ++input.come;
      input.packet = flit->word;
      network_.accept(wire);
    } else {
      arrive(node, input.packet, input.come, flit->message);
      input.come = 0;
    }
    network_.take(wire);
  }
}

void CubePort::take_from_itself(NodeNumber node) {
  Output& output = outputs_[engine(node, network_.dimensions())];
  if (output.packets.empty() || output.sent <= zero_load_latency(0, output.packets.front().flits)) return;
  const Packet& packet = output.packets.front();
  arrive(node, packet.number, packet.flits, output.recorded);
  count(node, packet);
  output.sent = 0;
  output.packets.pop_front();
}

void CubePort::arrive(NodeNumber node, std::uint32_t packet, std::uint32_t flits, std::uint32_t recorded) {
  const Cycle at = now() - 1;
  arrivals_.push_back({at, node, packet, flits, true, true});
  if (trace_ != nullptr) trace_->comes(recorded, node, at);
  --under_way_;
}

/// The network counts the ends of messages, too: so the ways are gone here.
void CubePort::count(NodeNumber from, const Packet& packet) {
  carried_[carried_at(from, kit::Link::of_node)] += packet.flits;
  for (NodeNumber at = from;;) {
    const unsigned port = kit::e_cube(at, packet.to).port;
    carried_[carried_at(at, port)] += packet.flits;
    if (port == 0) return;
    at = Hypercube::neighbour(at, port);
  }
}

std::vector<kit::NodePort::LinkCount> CubePort::links() const {
  return count_links([this](const kit::Link& link) { return carried_[carried_at(link.from, link.port)]; });
}

void CubePort::record(kit::Trace* trace) {
  trace_ = trace;
  network_.record(trace);
}

}  // namespace am::ncube2
