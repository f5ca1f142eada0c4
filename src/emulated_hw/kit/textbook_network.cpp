#include "emulated_hw/kit/textbook_network.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/kit/text.hpp"

namespace am::kit {

namespace {

RouterShape shape_of(const Topology& topology, const TextbookNetwork::Options& options) {
  RouterShape shape{ports_of(topology), options.num_vcs, options.vc_buf_size};
  if (shape.ports > RouterShape::most_ports)
    throw std::invalid_argument(
        text_of("a router would have ", shape.ports, " ports: it can have up to ", RouterShape::most_ports));
  if (const auto* tree = std::get_if<FatTree>(&topology); tree != nullptr && tree->links_of_node() != 1)
    throw std::invalid_argument("a node has one link to this network, not " +
                                std::to_string(tree->links_of_node()));
  const unsigned most_vcs = std::min(RouterShape::most_vcs, RouterShape::most_channels / shape.ports);
  if (shape.vcs == 0 || shape.vcs > most_vcs)
    throw std::invalid_argument("num_vcs has to be from 1 to " + std::to_string(most_vcs) +
                                " in this network");
  if (shape.buffer == 0 || shape.buffer > RouterShape::most_buffer)
    throw std::invalid_argument("vc_buf_size has to be from 1 to " +
                                std::to_string(RouterShape::most_buffer));
  if (options.routing_delay > 1) throw std::invalid_argument("routing_delay is 0 or 1");
  shape.routing_delay = options.routing_delay;
  if (shape.vcs < vc_classes(topology))
    throw std::invalid_argument(
        "a grid that wraps around needs 2 virtual channels: with one, packets could wait for each other in a "
        "ring");
  if (vc_classes(topology) == 2 && shape.vcs % 2 != 0) shape.shared_vc = shape.vcs / 2;
  return shape;
}

/// A number in which all bits of both matter.
std::uint64_t spread(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = (a ^ std::rotl(b, 32)) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
  return z ^ z >> 32;
}

}  // namespace

TextbookNetwork::TextbookNetwork(const Topology& topology, const Options& options)
    : NodePort(topology, {"packet"}, {}),
      shape_(shape_of(topology, options)),
      nodes_(nodes()),
      node_credits_(nodes()),
      senders_(nodes()) {
  const std::uint32_t all = shape_.all_vcs();
  const unsigned half = shape_.vcs / 2;  // of an odd number, each class has that in the middle, too
  vcs_of_ = {0, all >> half, all & all << half, all};
  if (shape_.ports * shape_.vcs > TextbookRouter<1>::most_channels) routers_.emplace<WideRouters>();
  std::visit([this](const auto& one, auto& routers) { wire(one, routers); }, topology, routers_);
  const RouterNumber count = routers_of(topology);
  slots_.fill({.flits = std::vector<Flit>(ends_.size()),
               .credits = std::vector<std::uint8_t>(ends_.size()),
               .to_router = std::vector<Arrivals>(count),
               .to_node = std::vector<AtNode>(nodes()),
               .to_step = NodeSet(count),
               .to_take = NodeSet(nodes())});
  for (auto& by_vc : node_credits_) by_vc.fill(static_cast<std::uint8_t>(shape_.buffer));
  for (Node& node : nodes_) {
    node.with_credit = all;
    node.next_vc.had_its_turn(0);
  }
}

template <class OneTopology, class Routers>
void TextbookNetwork::wire(const OneTopology& topology, Routers& routers) {
  const std::size_t room = std::size_t{shape_.ports} * shape_.vcs * shape_.buffer;  // flits of a router
  routers.resize(topology.routers());
  buffers_.resize(routers.size() * room);
  ends_.resize(routers.size() * shape_.ports);
  places_.resize(topology.nodes());
  passed_.resize(ends_.size());
  injected_.resize(places_.size());
  for (NodeNumber node = 0; node < places_.size(); ++node) {
    const Place place = topology.place_of(node);
    places_[node] = input(place);
    ends_[line(place.router, place.port)] = {node, End::node};
  }
  for (RouterNumber router = 0; router < routers.size(); ++router) {
    routers[router].reset(shape_, &buffers_[router * room]);
    for (unsigned port = 0; port < shape_.ports; ++port) {
      End& end = ends_[line(router, port)];
      if (const RouterNumber next = topology.neighbour(router, port); next != nowhere)
        end = input({next, topology.opposite(router, port)});
      if (end.number == nowhere) continue;
      for (unsigned vc = 0; vc < shape_.vcs; ++vc)
        routers[router].credit(shape_.channel(port, vc), shape_.buffer);
    }
  }
}

// -- nodes ------------------------------------------------------------------------------------------------------------

void TextbookNetwork::inject(NodeNumber number, const Packet& packet) {
  Node& node = nodes_[number];
  node.packet = packet;
  node.left = packet.flits;
  node.vc = node.next_vc.pick(node.with_credit);
  node.next_vc.had_its_turn(node.vc);
  senders_.put(number);
}

void TextbookNetwork::send(NodeNumber number) {
  Node& node = nodes_[number];
  if (!has(node.with_credit, node.vc)) return;
  if (--node_credits_[number][node.vc] == 0) node.with_credit &= ~request(node.vc);
  const bool head = node.left == node.packet.flits;
  const bool tail = --node.left == 0;
  const auto& [packet, to, flits, channel] = node.packet;
  arrive(now_ + from_node_delay, places_[number],
         Flit({packet, static_cast<std::uint16_t>(to), static_cast<std::uint8_t>(node.vc), head, tail}));
  ++injected_[number];
  last_move_ = now_;
  if (trace_ != nullptr) [[unlikely]] {
    if (head) recorded_[packet] = trace_->begins(number, to, channel);
    trace_->passes(recorded_[packet], number, Trace::injection, now_, 1);
  }
  if (tail) senders_.erase(number);
}

void TextbookNetwork::take(NodeNumber number) {
  const auto& [flit, credit] = in(now_).to_node[number];
  if (credit != 0) {
    ++node_credits_[number][credit - 1u];
    nodes_[number].with_credit |= request(credit - 1u);
  }
  if (!flit) return;
  give_back(now_ + credit_delay, places_[number], flit.vc());
  arrivals_.push_back({now_, number, flit.packet(), 1, flit.is_head(), flit.is_tail()});
  if (trace_ != nullptr && flit.is_tail()) [[unlikely]]
    trace_->comes(recorded_[flit.packet()], number, now_);
}

Cycle TextbookNetwork::zero_load_latency(unsigned links, std::uint32_t flits) const {
  // routing, a channel, and from the switch to the next one
  const Cycle router = shape_.routing_delay + 1 + flit_delay;
  return from_node_delay + router * (links + 1) + flits - 1;
}

// -- routers ----------------------------------------------------------------------------------------------------------

/// What is random is drawn from what the packet is, when and where: it does not depend on the order within a cycle either.
template <class OneTopology>
Route TextbookNetwork::route(const OneTopology& topology, RouterNumber here, unsigned port,
                             Flit flit) const noexcept {
  const auto random = [&] { return static_cast<std::uint32_t>(spread(spread(now_, flit.bits()), here)); };
  const Hop hop = next_hop(topology, here, {port, flit.vc_class()}, flit.destination(), random);
  return {.port = static_cast<std::uint8_t>(hop.port),
          .vc_class = static_cast<std::uint8_t>(hop.classes == 0b10 ? 1 : 0),
          .vcs = vcs_of_[hop.classes]};
}

void TextbookNetwork::pass(RouterNumber from, unsigned port, Flit flit) {
  // A sum: it does not depend on the order within a cycle.
  fingerprint_ += spread(spread(now_, flit.bits()), std::uint64_t{from} << 8 | port);
  last_move_ = now_;
  const std::size_t link = line(from, port);
  ++passed_[link];
  const End& end = ends_[link];
  if (end.port == End::node) {
    Slot& slot = in(now_ + flit_delay);
    slot.to_node[end.number].flit = flit;
    slot.to_take.put(end.number);
  } else {
    arrive(now_ + flit_delay, end, flit);
  }
  if (trace_ != nullptr) [[unlikely]]
    trace_->passes(recorded_[flit.packet()], from, port, now_, 1);
}

void TextbookNetwork::freed(RouterNumber at, unsigned port, unsigned vc) noexcept {
  const End& end = ends_[line(at, port)];
  if (end.port == End::node) {
    Slot& slot = in(now_ + to_node_credit_delay);
    slot.to_node[end.number].credit = static_cast<std::uint8_t>(vc + 1);
    slot.to_take.put(end.number);
  } else {
    give_back(now_ + credit_delay, end, vc);
  }
}

template <class OneTopology, class Router>
void TextbookNetwork::step(const OneTopology& topology, RouterNumber number, Router& router) {
  Slot& slot = in(now_);
  const Arrivals arrivals = std::exchange(slot.to_router[number], {});
  for_each(arrivals.with_flit,
           [&](unsigned port) { router.receive(shape_, port, slot.flits[line(number, port)]); });
  for_each(arrivals.with_credit,
           [&](unsigned port) { router.credit(shape_.channel(port, slot.credits[line(number, port)])); });
  const bool goes_on = router.step(
      shape_, [&](unsigned port, Flit flit) { return route(topology, number, port, flit); },
      [&](unsigned port, Flit flit) { pass(number, port, flit); },
      [&](unsigned port, unsigned vc) { freed(number, port, vc); });
  if (goes_on) in(now_ + 1).to_step.put(number);
}

/// Which topology it is, and which width routers have, is asked once in a cycle.
void TextbookNetwork::step(std::span<const RouterNumber> order) {
  senders_.for_each([this](NodeNumber node) { send(node); });
  Slot& slot = in(now_);
  std::visit(
      [&](const auto& one, auto& all) {
        if (order.empty())
          slot.to_step.for_each([&](RouterNumber router) { step(one, router, all[router]); });
        for (const RouterNumber router : order) step(one, router, all[router]);
      },
      topology(), routers_);
  slot.to_step.clear();
  slot.to_take.for_each([&](NodeNumber node) { slot.to_node[node] = {}; });
  slot.to_take.clear();
  ++now_;
  arrivals_.clear();
  in(now_).to_take.for_each([this](NodeNumber node) { take(node); });
}

std::vector<NodePort::LinkCount> TextbookNetwork::links() const {
  return count_links(
      [this](const Link& link) {
        return link.port == Link::of_node ? injected_[link.from] : passed_[line(link.from, link.port)];
      },
      [this](RouterNumber router, unsigned port) { return ends_[line(router, port)].number != nowhere; });
}

std::uint64_t TextbookNetwork::flits() const {
  std::uint64_t count = 0;
  for (RouterNumber number = 0; number < routers_of(topology()); ++number) {
    of_router(number, [&](const auto& router) {
      for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) count += router.count(input);
    });
  }
  for (const Slot& slot : slots_) {
    for (const Arrivals& arrivals : slot.to_router)
      count += static_cast<unsigned>(std::popcount(arrivals.with_flit));
    for (const AtNode& node : slot.to_node) count += node.flit ? 1 : 0;
  }
  return count;
}

template <class Router>
void TextbookNetwork::add_who_waits(const Router& router, RouterNumber number, unsigned input,
                                    Waits& waits) const {
  const auto place = [&](RouterNumber at, unsigned channel) {
    return text_of("router ", at, " port ", channel / shape_.vcs, " vc ", channel % shape_.vcs);
  };
  std::string line = text_of(place(number, input), ": packet ", router.front(shape_, input).packet());
  std::vector<std::string> behind;
  if (router.is_active(input)) {
    const unsigned output = router.output_of(input);
    const bool has_room = router.credits(output) != 0;
    line += (has_room ? " waits for its turn to " : " waits for room behind ") + place(number, output);
    const End end = ends_[this->line(number, output / shape_.vcs)];
    if (!has_room && end.port != End::node)
      behind.push_back(place(end.number, end.port * shape_.vcs + output % shape_.vcs));
  } else {
    const Route route = router.route_of(input);
    line += text_of(" waits for a channel of port ", route.port);
    for (unsigned other = 0; other < shape_.ports * shape_.vcs; ++other) {
      if (!router.is_active(other) || router.output_of(other) / shape_.vcs != route.port) continue;
      behind.push_back(place(number, other));
      const std::string packet =
          router.count(other) == 0 ? "behind " : text_of(router.front(shape_, other).packet(), " at ");
      line +=
          text_of(", ", router.output_of(other) % shape_.vcs, " is that of packet ", packet, behind.back());
    }
  }
  waits.add(place(number, input), std::move(line), std::move(behind));
}

void TextbookNetwork::add_waits(Waits& waits) const {
  for (RouterNumber number = 0; number < routers_of(topology()); ++number) {
    of_router(number, [&](const auto& router) {
      for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) {
        if (router.count(input) != 0) add_who_waits(router, number, input, waits);
      }
    });
  }
}

}  // namespace am::kit
