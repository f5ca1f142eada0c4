#include <am/sim/network.hpp>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/kit/node_set.hpp"
#include "sim/shape.hpp"

namespace am::sim {

struct Network::State {
  explicit State(const Shape& shape)
      : port(network_of(which(shape))), waiting(port->nodes()), busy(port->nodes()) {}

  std::uint32_t place_for(const Packet& packet);
  void send(Node from);

  std::unique_ptr<kit::NodePort> port;
  std::vector<std::deque<std::uint32_t>> waiting;  // by node: places in `packets`, oldest first
  kit::NodeSet busy;                               // nodes with a packet to send
  std::vector<Packet> packets;                     // that are under way
  std::vector<std::uint32_t> unused;               // places in it
  std::vector<Packet> arrived;
  std::uint64_t injected = 0;
  std::uint64_t come = 0;
};

std::uint32_t Network::State::place_for(const Packet& packet) {
  if (unused.empty()) {
    packets.push_back(packet);
    return static_cast<std::uint32_t>(packets.size() - 1);
  }
  const std::uint32_t place = unused.back();
  unused.pop_back();
  packets[place] = packet;
  return place;
}

void Network::State::send(Node from) {
  if (!port->has_room(from, 0)) return;
  const std::uint32_t place = waiting[from].front();
  waiting[from].pop_front();
  if (waiting[from].empty()) busy.erase(from);
  Packet& packet = packets[place];
  packet.sent = port->now();
  port->inject(from, {.number = place, .to = packet.to, .flits = packet.flits});
}

Network::Network(const Shape& shape) : state_(std::make_unique<State>(shape)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Node Network::nodes() const noexcept { return static_cast<Node>(state_->waiting.size()); }
Cycle Network::now() const noexcept { return state_->port->now(); }

std::uint64_t Network::inject(Node from, Node to, unsigned flits) {
  if (from >= nodes() || to >= nodes())
    throw std::invalid_argument("a packet from node " + std::to_string(from) + " to node " +
                                std::to_string(to) + ": the network has " + std::to_string(nodes()) +
                                " nodes");
  const auto [least, most] = state_->port->packet_sizes();
  if (flits < least || flits > most)
    throw std::invalid_argument("a packet of " + std::to_string(flits) + " flits: from " +
                                std::to_string(least) + " to " + std::to_string(most) + " in this network");
  const std::uint64_t number = state_->injected++;
  state_->waiting[from].push_back(state_->place_for({number, from, to, flits, now(), 0, 0}));
  state_->busy.put(from);
  return number;
}

void Network::step() {
  State& state = *state_;
  state.arrived.clear();
  state.busy.for_each([&](Node node) { state.send(node); });
  state.port->step({});
  for (const kit::NodePort::Arrival& arrival : state.port->arrivals()) {
    if (!arrival.tail) continue;
    Packet& packet = state.packets[arrival.packet];
    packet.came = arrival.at;
    state.arrived.push_back(packet);
    state.unused.push_back(arrival.packet);
    ++state.come;
  }
  check_that_it_moves(*state.port);
}

std::span<const Packet> Network::arrived() const noexcept { return state_->arrived; }
std::uint64_t Network::under_way() const noexcept { return state_->injected - state_->come; }
std::uint64_t Network::fingerprint() const noexcept { return state_->port->fingerprint(); }

}  // namespace am::sim
