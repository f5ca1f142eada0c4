#include "emulated_hw/iwarp/torus_port.hpp"

#include <algorithm>

namespace am::iwarp {

namespace {

using kit::Grid;
using kit::NodeNumber;

Grid torus_of(unsigned k, unsigned dimensions) {
  if (dimensions == 1) return {{k, true}};
  if (dimensions == 2) return {{k, true}, {k, true}};
  throw std::invalid_argument("iwarp has one or two dimensions: n=1 or n=2, not n=" +
                              std::to_string(dimensions));
}

// Words of data are told from the signs of corners by this bit, and carry the number of their packet.
constexpr Data of_packet = Data{1} << 31;
constexpr Word data_of(std::uint32_t packet) noexcept { return {.data = of_packet | packet}; }
constexpr bool is_data(const Word& word) noexcept {
  return word.tag == Tag::data && (word.data & of_packet) != 0;
}
constexpr std::uint32_t packet_of(const Word& word) noexcept { return word.data & ~of_packet; }

std::uint64_t carried(const CommunicationAgent& agent, unsigned port) {
  std::uint64_t words = 0;
  for (std::size_t i = 0; i < agent.outputs(); ++i) {
    const Output& output = agent.output(static_cast<Channel>(i));
    if (grid_port(output.bus) == port) words += output.carried;
  }
  return words;
}

}  // namespace

TorusPort::TorusPort(unsigned k, unsigned dimensions)
    : NodePort(torus_of(k, dimensions), {"open"}, {.least = 2}, costs::bus),
      network_(grid_wiring(torus_of(k, dimensions))),
      senders_(nodes()),
      receivers_(nodes()) {}

Route TorusPort::route(NodeNumber from, NodeNumber to) const {
  return along(network_.wiring(), from, on_grid(std::get<Grid>(topology()), from, to, Pool::open));
}

// -- into the network

void TorusPort::inject(NodeNumber node, const Packet& packet) {
  under_way_[packet.number] = {.flits = packet.flits};
  Sender& sender = senders_[node];
  sender.is_busy = true;
  sender.packet = packet;
  sender.asks_at = now() + costs::request;
  sender.own = no_channel;
  sender.words.clear();
  sender.next = 0;
  if (packet.to == node) {
    sender.asks_at += Cycle{costs::bus} * packet.flits;
    return;
  }
  const Route way = route(node, packet.to);
  sender.first = way.first;
  sender.pool = way.pool();
  for (const Sign& sign : way.signs)
    sender.words.push_back({sign.data(), sender.words.empty() ? Tag::pathway_begin : Tag::data});
  sender.words.insert(sender.words.end(), packet.flits - 1, data_of(packet.number));
  sender.words.push_back({0, Tag::pathway_end});
}

/// "If a logical channel is available"; else it asks again.
bool TorusPort::has_channel(NodeNumber node) {
  Sender& sender = senders_[node];
  if (sender.own != no_channel) return true;
  if (now() < sender.asks_at) return false;
  sender.asks_at = now() + costs::request;
  const std::optional<Channel> own = agent(node).take_own();
  if (!own) return false;
  if (!agent(node).assign(*own, sender.first, sender.pool)) {
    agent(node).release_own(*own);
    return false;
  }
  sender.own = *own;
  if (trace_ != nullptr)
    under_way_[sender.packet.number].recorded = trace_->begins(node, sender.packet.to, 0);
  return true;
}

void TorusPort::send(NodeNumber node) {
  Sender& sender = senders_[node];
  if (!sender.is_busy || sender.packet.to == node || !has_channel(node) || agent(node).room(sender.own) == 0)
    return;
  const Word word = sender.words[sender.next++];
  agent(node).push(sender.own, word);
  ++sender.sent;
  pass(word, node, kit::Trace::injection);
  sender.is_busy = sender.next != sender.words.size();
}

// -- and out of it

void TorusPort::step(std::span<const kit::RouterNumber> order) {
  arrivals_.clear();
  for (NodeNumber node = 0; node < nodes(); ++node) send(node);
  network_.step(order);
  for (NodeNumber node = 0; node < nodes(); ++node) {
    take(node);
    take_from_itself(node);
  }
}

void TorusPort::take(NodeNumber node) {
  CommunicationAgent& here = agent(node);
  kit::Requests& channels = receivers_[node].channels;
  kit::for_each(here.posted(Event::pathway_begin), [&](unsigned number) {
    here.clear(Event::pathway_begin, static_cast<Channel>(number));
    channels |= kit::request(number);
  });
  kit::for_each(channels, [&](unsigned number) {
    const auto channel = static_cast<Channel>(number);
    if (here.input(channel).state != Input::State::ends_here) {
      channels &= ~kit::request(number);
    } else if (here.readable(channel) != 0) {
      const Word word = here.pop(channel);
      if (is_data(word)) take_word(node, word);
    }
  });
}

void TorusPort::take_word(NodeNumber node, const Word& word) {
  ++receivers_[node].taken;
  pass(word, node, 0);
  const std::uint32_t number = packet_of(word);
  Passing& packet = under_way_.at(number);
  const bool head = packet.come == 0;
  const bool tail = ++packet.come == packet.flits - 1;
  arrivals_.push_back({now(), node, number, head ? 2u : 1u, head, tail});
  if (!tail) return;
  if (trace_ != nullptr) trace_->comes(packet.recorded, node, now());
  under_way_.erase(number);
}

void TorusPort::take_from_itself(NodeNumber node) {
  Sender& sender = senders_[node];
  if (!sender.is_busy || sender.packet.to != node) return;
  last_to_itself_ = now();
  if (now() < sender.asks_at) return;
  sender.is_busy = false;
  const auto& [number, to, flits, channel] = sender.packet;
  if (trace_ != nullptr) {
    under_way_[number].recorded = trace_->begins(node, node, 0);
    const Word word = data_of(number);
    pass(word, node, kit::Trace::injection, flits - 1);
    pass(word, node, 0, flits - 1);
    trace_->comes(under_way_[number].recorded, node, now() + flits);
  }
  arrivals_.push_back({now(), node, number, flits, true, true});
  under_way_.erase(number);
}

Cycle TorusPort::still_for() const { return std::min(network_.still_for(), now() - last_to_itself_); }

void TorusPort::add_waits(kit::Waits& waits) const {
  network_.add_waits(waits);
  for (NodeNumber node = 0; node < nodes(); ++node) {
    if (senders_[node].is_busy && senders_[node].own == no_channel)
      waits.add("cell " + std::to_string(node), "cell " + std::to_string(node) + " waits for a channel");
  }
}

// -- figures

/// It asks, a bus, and for each cell on the way a match and a bus; then the data behind the sign, a word in two cycles, and the last one's
/// place in the queue.
Cycle TorusPort::zero_load_latency(unsigned links, std::uint32_t flits) const {
  const Cycle asks = costs::request;
  if (links == 0) return asks + Cycle{costs::bus} * flits;
  return asks + costs::bus + Cycle{costs::match + costs::bus} * (links - 1) +
         Cycle{costs::bus} * (flits - 1) + costs::word;
}

Cycle TorusPort::zero_load_between(NodeNumber from, NodeNumber to, std::uint32_t flits) const {
  const Cycle straight = zero_load_latency(distance(topology(), from, to), flits);
  if (from == to) return straight;
  return straight + (costs::corner - costs::match) * (route(from, to).signs.size() - 1);
}

std::vector<kit::NodePort::LinkCount> TorusPort::links() const {
  return count_links([this](const kit::Link& link) {
    if (link.port == kit::Link::of_node) return senders_[link.from].sent;
    if (link.port == 0) return receivers_[link.from].taken;
    return carried(network_.agent(link.from), link.port);
  });
}

void TorusPort::record(kit::Trace* trace) {
  trace_ = trace;
  network_.watch(
      [this](CellNumber cell, Direction bus, const Word& word) { pass(word, cell, grid_port(bus)); });
}

void TorusPort::pass(const Word& word, NodeNumber node, unsigned port, unsigned flits) {
  if (trace_ == nullptr || !is_data(word)) return;
  trace_->passes(under_way_.at(packet_of(word)).recorded, node, port, now(), flits);
}

}  // namespace am::iwarp
