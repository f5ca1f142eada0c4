#include <am/sim/network.hpp>

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/traffic.hpp"
#include "sim/shape.hpp"

namespace am::sim {

struct Network::State {
  /// A node that sends. It keeps count of the room behind its link, by the credits that come.
  struct Sender {
    std::deque<std::uint32_t> waiting;  // places in `packets`, oldest first
    unsigned sent = 0;                  // flits of the first
    unsigned vc = 0;                    // of that, or of the last one
    std::vector<unsigned> credits;      // by virtual channel
  };

  explicit State(const Shape& shape)
      : network(topology_of(shape), options_of(shape)), senders(network.nodes()), busy(network.nodes()) {
    for (Sender& sender : senders) sender.credits.assign(shape.num_vcs, shape.vc_buf_size);
  }

  std::uint32_t place_for(const Packet& packet);
  void take(kit::Flit flit);
  void send(Node from);

  kit::CycleNetwork network;
  std::vector<Sender> senders;
  kit::NodeSet busy;            // nodes with a packet to send
  std::vector<Packet> packets;  // that are under way, by what their flits name
  std::vector<std::uint32_t> unused;
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

void Network::State::take(kit::Flit flit) {
  Packet& packet = packets[flit.packet()];
  network.taken(packet.to, flit.vc());
  if (!flit.is_tail()) return;
  packet.came = network.now();
  arrived.push_back(packet);
  unused.push_back(flit.packet());
  ++come;
}

/// The next flit of the oldest packet. Its virtual channel is the next one with room.
void Network::State::send(Node from) {
  Sender& sender = senders[from];
  const std::uint32_t place = sender.waiting.front();
  Packet& packet = packets[place];
  if (sender.sent == 0) {
    const auto vcs = static_cast<unsigned>(sender.credits.size());
    unsigned tries = 0;
    do {
      sender.vc = (sender.vc + 1) % vcs;
    } while (sender.credits[sender.vc] == 0 && ++tries < vcs);
  }
  if (sender.credits[sender.vc] == 0) return;
  --sender.credits[sender.vc];
  const bool head = sender.sent == 0;
  const bool tail = ++sender.sent == packet.flits;
  if (head) packet.sent = network.now();
  network.inject(from, kit::Flit({place, static_cast<std::uint16_t>(packet.to),
                                  static_cast<std::uint8_t>(sender.vc), head, tail}));
  if (!tail) return;
  sender.sent = 0;
  sender.waiting.pop_front();
  if (sender.waiting.empty()) busy.erase(from);
}

Network::Network(const Shape& shape) : state_(std::make_unique<State>(shape)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Node Network::nodes() const noexcept { return state_->network.nodes(); }
Cycle Network::now() const noexcept { return state_->network.now(); }

std::uint64_t Network::inject(Node from, Node to, unsigned flits) {
  if (from >= nodes() || to >= nodes())
    throw std::invalid_argument("a packet from node " + std::to_string(from) + " to node " +
                                std::to_string(to) + ": the network has " + std::to_string(nodes()) +
                                " nodes");
  if (flits == 0) throw std::invalid_argument("a packet has a flit at least");
  const std::uint64_t number = state_->injected++;
  state_->senders[from].waiting.push_back(state_->place_for({number, from, to, flits, now(), 0, 0}));
  state_->busy.put(from);
  return number;
}

void Network::step() {
  State& state = *state_;
  state.arrived.clear();
  state.network.for_each_arrival([&](Node node) {
    if (const int vc = state.network.credit(node); vc >= 0)
      ++state.senders[node].credits[static_cast<std::size_t>(vc)];
    if (const kit::Flit flit = state.network.ejected(node)) state.take(flit);
  });
  state.busy.for_each([&](Node node) { state.send(node); });
  state.network.step();
  check_that_it_moves(state.network);
}

std::span<const Packet> Network::arrived() const noexcept { return state_->arrived; }
std::uint64_t Network::under_way() const noexcept { return state_->injected - state_->come; }
std::uint64_t Network::fingerprint() const noexcept { return state_->network.fingerprint(); }

}  // namespace am::sim
