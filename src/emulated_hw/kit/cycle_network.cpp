#include "emulated_hw/kit/cycle_network.hpp"

namespace am::kit {

namespace {

RouterShape shape_of(const Topology& topology, const CycleNetwork::Options& options) {
  RouterShape shape{ports_of(topology), options.num_vcs, options.vc_buf_size};
  if (shape.ports > RouterShape::most_ports)
    throw std::invalid_argument("a router would have " + std::to_string(shape.ports) +
                                " ports: it can have up to " + std::to_string(RouterShape::most_ports));
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

CycleNetwork::CycleNetwork(const Topology& topology, const Options& options)
    : topology_(topology),
      ways_(fast(topology)),
      shape_(shape_of(topology, options)),
      router_count_(routers_of(topology)),
      to_step_(router_count_, slots) {
  const std::uint32_t all = shape_.all_vcs();
  const unsigned half = shape_.vcs / 2;  // of an odd number, each class has that in the middle, too
  vcs_of_ = {0, all >> half, all & all << half, all};
  if (shape_.ports * shape_.vcs > TextbookRouter<1>::most_channels) routers_.emplace<WideRouters>();
  std::visit([this](const auto& one, auto& routers) { wire(one, routers); }, topology_, routers_);
  for (unsigned at = 0; at < slots; ++at) {
    flits_[at].resize(ends_.size());
    credits_[at].resize(ends_.size());
    arrivals_[at].resize(routers());
    nodes_[at].resize(nodes());
    to_nodes_[at] = NodeSet(nodes());
  }
}

template <class OneTopology, class Routers>
void CycleNetwork::wire(const OneTopology& topology, Routers& all) {
  all.resize(routers());
  buffers_.resize(std::size_t{routers()} * shape_.ports * shape_.vcs * shape_.buffer);
  ends_.resize(std::size_t{routers()} * shape_.ports);
  places_.resize(topology.nodes());
  passed_.resize(ends_.size());
  injected_.resize(places_.size());
  for (RouterNumber router = 0; router < routers(); ++router) {
    all[router].reset(shape_, &buffers_[std::size_t{router} * shape_.ports * shape_.vcs * shape_.buffer]);
    for (unsigned port = 0; port < shape_.ports; ++port) {
      const RouterNumber next = topology.neighbour(router, port);
      if (next == nowhere) continue;
      ends_[line(router, port)] = {next, static_cast<std::uint8_t>(topology.opposite(router, port))};
    }
  }
  for (NodeNumber node = 0; node < nodes(); ++node) {
    const Place place = topology.place_of(node);
    places_[node] = {place.router, static_cast<std::uint8_t>(place.port)};
    ends_[line(place.router, place.port)] = {node, End::node};
  }
  for (RouterNumber router = 0; router < routers(); ++router) {
    for (unsigned port = 0; port < shape_.ports; ++port) {
      if (ends_[line(router, port)].number == nowhere) continue;
      for (unsigned vc = 0; vc < shape_.vcs; ++vc)
        all[router].credit(shape_.channel(port, vc), shape_.buffer);
    }
  }
}

/// What is random is drawn from what the packet is, when and where: it does not depend on the order within a cycle either.
template <class OneTopology>
Route CycleNetwork::route(const OneTopology& topology, RouterNumber here, unsigned port,
                          Flit flit) const noexcept {
  const auto random = [&] { return static_cast<std::uint32_t>(spread(spread(now_, flit.bits()), here)); };
  const Hop hop = next_hop(topology, here, {port, flit.vc_class()}, flit.destination(), random);
  return {.port = static_cast<std::uint8_t>(hop.port),
          .vc_class = static_cast<std::uint8_t>(hop.classes == 0b10 ? 1 : 0),
          .vcs = vcs_of_[hop.classes]};
}

void CycleNetwork::send(RouterNumber from, unsigned port, Flit flit) {
  // A sum: it does not depend on the order within a cycle.
  fingerprint_ += spread(spread(now_, flit.bits()), std::uint64_t{from} << 8 | port);
  last_move_ = now_;
  const std::size_t link = line(from, port);
  ++passed_[link];
  const End end = ends_[link];
  if (end.port == End::node) {
    nodes_[slot(now_ + flit_delay)][end.number].flit = flit;
    to_nodes_[slot(now_ + flit_delay)].put(end.number);
  } else {
    arrive(now_ + flit_delay, end, flit);
  }
  if (trace_ != nullptr) [[unlikely]]
    record_passage(from, port, flit);
}

void CycleNetwork::record_injection(NodeNumber node, Flit flit) {
  if (flit.is_head()) recorded_[flit.packet()] = trace_->begins(node, flit.destination(), 0);
  trace_->passes(recorded_[flit.packet()], node, Trace::injection, now_, 1);
}

void CycleNetwork::record_passage(RouterNumber from, unsigned port, Flit flit) {
  trace_->passes(recorded_[flit.packet()], from, port, now_, 1);
}

void CycleNetwork::record_arrival(NodeNumber node) {
  if (const Flit flit = ejected(node); flit.is_tail()) trace_->comes(recorded_[flit.packet()], node, now_);
}

void CycleNetwork::freed(RouterNumber at, unsigned port, unsigned vc) noexcept {
  const End end = ends_[line(at, port)];
  if (end.port == End::node) {
    nodes_[slot(now_ + to_node_credit_delay)][end.number].credit = static_cast<std::uint8_t>(vc + 1);
    to_nodes_[slot(now_ + to_node_credit_delay)].put(end.number);
  } else {
    give_back(now_ + credit_delay, end, vc);
  }
}

template <class OneTopology, class Router>
void CycleNetwork::step(const OneTopology& topology, RouterNumber number, Router& router) {
  const std::size_t at = slot(now_);
  const Arrivals arrivals = std::exchange(arrivals_[at][number], {});
  for_each(arrivals.with_flit,
           [&](unsigned port) { router.receive(shape_, port, flits_[at][line(number, port)]); });
  for_each(arrivals.with_credit,
           [&](unsigned port) { router.credit(shape_.channel(port, credits_[at][line(number, port)])); });
  const bool goes_on = router.step(
      shape_, [&](unsigned port, Flit flit) { return route(topology, number, port, flit); },
      [&](unsigned port, Flit flit) { send(number, port, flit); },
      [&](unsigned port, unsigned vc) { freed(number, port, vc); });
  if (goes_on) to_step_.put(now_ + 1, number);
}

/// Which topology it is, and which width routers have, is asked once in a cycle.
void CycleNetwork::step(std::span<const RouterNumber> order) {
  if (!order.empty()) to_step_.clear(now_);
  std::visit(
      [&](const auto& topology, auto& all) {
        to_step_.take(now_, [&](RouterNumber router) { step(topology, router, all[router]); });
        for (const RouterNumber router : order) step(topology, router, all[router]);
      },
      ways_, routers_);
  to_nodes_[slot(now_)].for_each([this](NodeNumber node) { nodes_[slot(now_)][node] = {}; });
  to_nodes_[slot(now_)].clear();
  ++now_;
}

std::uint64_t CycleNetwork::flits() const noexcept {
  std::uint64_t count = 0;
  for (RouterNumber number = 0; number < routers(); ++number) {
    const RouterView one = router(number);
    for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) count += one.count(input);
  }
  for (unsigned at = 0; at < slots; ++at) {
    for (const Arrivals& arrivals : arrivals_[at])
      count += static_cast<unsigned>(std::popcount(arrivals.with_flit));
    for (const AtNode& node : nodes_[at]) count += node.flit ? 1 : 0;
  }
  return count;
}

void CycleNetwork::add_who_waits(RouterNumber number, unsigned input, Waits& waits) const {
  const auto place = [&](RouterNumber router, unsigned channel) {
    return "router " + std::to_string(router) + " port " + std::to_string(channel / shape_.vcs) + " vc " +
           std::to_string(channel % shape_.vcs);
  };
  const RouterView router = this->router(number);
  std::string line =
      place(number, input) + ": packet " + std::to_string(router.front(shape_, input).packet());
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
    line += " waits for a channel of port " + std::to_string(route.port);
    for (unsigned other = 0; other < shape_.ports * shape_.vcs; ++other) {
      if (!router.is_active(other) || router.output_of(other) / shape_.vcs != route.port) continue;
      behind.push_back(place(number, other));
      line += ", " + std::to_string(router.output_of(other) % shape_.vcs) + " is that of packet " +
              (router.count(other) == 0 ? "behind "
                                        : std::to_string(router.front(shape_, other).packet()) + " at ") +
              behind.back();
    }
  }
  waits.add(place(number, input), std::move(line), std::move(behind));
}

void CycleNetwork::add_waits(Waits& waits) const {
  for (RouterNumber number = 0; number < routers(); ++number) {
    for (unsigned input = 0; input < shape_.ports * shape_.vcs; ++input) {
      if (router(number).count(input) != 0) add_who_waits(number, input, waits);
    }
  }
}

}  // namespace am::kit
