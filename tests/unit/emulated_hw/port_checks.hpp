// What holds of every network that nodes have a port to.
#pragma once

#include "emulated_hw/kit/traffic.hpp"
#include "support/random.hpp"
#include "unit/emulated_hw/orders.hpp"
#include "unit/emulated_hw/trace_checks.hpp"

namespace test {

using am::kit::NodeNumber;
using am::kit::NodePort;
using MakePort = std::function<std::unique_ptr<NodePort>()>;

/// Of a packet that is alone.
inline am::kit::Cycle latency(NodePort& port, NodeNumber from, NodeNumber to, std::uint32_t flits,
                              unsigned channel = 0) {
  EXPECT_TRUE(port.is_empty() && port.has_room(from, channel));
  port.inject(from, {.number = 7, .to = to, .flits = flits, .channel = channel});
  for (std::uint32_t come = 0; port.now() < 10'000;) {
    port.step({});
    for (const auto& arrival : port.arrivals()) {
      EXPECT_EQ(std::pair(arrival.node, arrival.packet), std::pair(to, 7u));
      EXPECT_EQ(arrival.head, come == 0);
      EXPECT_EQ(arrival.tail, (come += arrival.flits) == flits);
      if (arrival.tail) return arrival.at;
    }
  }
  ADD_FAILURE() << "no packet from " << from << " to " << to;
  return 0;
}

/// Between all nodes, on all channels.
inline void expect_sum_of_parts(const MakePort& make, std::initializer_list<std::uint32_t> lengths) {
  const NodeNumber nodes = make()->nodes();
  for (NodeNumber from = 0; from < nodes; ++from) {
    for (NodeNumber to = 0; to < nodes; ++to) {
      for (const std::uint32_t flits : lengths) {
        for (unsigned channel = 0; channel < make()->channels().size(); ++channel) {
          const auto port = make();
          ASSERT_EQ(latency(*port, from, to, flits, channel), port->zero_load_between(from, to, flits))
              << from << " to " << to << ", " << flits << " flits, channel " << channel;
        }
      }
    }
  }
}

/// Its routers are stepped in the order of their numbers, or in a new one in each cycle.
inline void expect_same_in_any_order(const MakePort& make, am::kit::Traffic traffic, int orders = 20) {
  const auto run = [&](const auto& next) {
    const auto port = make();
    am::kit::TrafficNodes nodes(*port, traffic);
    nodes.measure(true);
    for (am::kit::Cycle i = 0; i < 500 * port->flit_cycles(); ++i) nodes.cycle(next());
    EXPECT_GT(nodes.come(), 500u);
    return std::pair(port->fingerprint(), nodes.figures());
  };
  expect_the_same_in_any_order(routers_of(make()->topology()), orders, run);
  const auto none = [] { return std::span<const std::uint32_t>(); };
  const auto fingerprint = run(none).first;
  ++traffic.seed;
  EXPECT_NE(run(none).first, fingerprint) << "fingerprints tell runs apart";
}

/// No more packets are made, and all come.
inline void drain(NodePort& port, am::kit::TrafficNodes& nodes) {
  nodes.stop();
  while (nodes.figures().waiting != 0 || !port.is_empty()) {
    nodes.cycle();
    check_that_it_moves(port, 100);
  }
  nodes.cycle();  // what has come in the last one
  EXPECT_EQ(nodes.faults(), 0u);
  EXPECT_EQ(nodes.come(), nodes.sent());
}

/// What a trace shows of a message of `flits`: cycles on each link between routers, and on that from its node, or to it.
struct LinkTimes {
  explicit LinkTimes(std::uint32_t flits) : between(flits), of_node(flits) {}
  std::uint64_t between;
  std::uint64_t of_node;
  std::size_t engines = 1;  ///< of a node, which share what is shown as one link
};

/// However much nodes send for a while: all of it comes, whole, where it should; where `ordered`, none overtakes another between two
/// nodes. A trace leads each packet from interface to interface, and changes nothing.
inline void expect_all_comes(const MakePort& make, const am::kit::Traffic& traffic, bool ordered,
                             const LinkTimes& times) {
  SCOPED_TRACE(name_of(traffic.pattern));
  am::kit::Trace trace(make()->topology());
  const auto run = [&](bool traced) {
    const auto port = make();
    if (traced) port->record(&trace);
    am::kit::TrafficNodes nodes(*port, traffic);
    for (am::kit::Cycle i = 0; i < 100 * port->flit_cycles(); ++i) nodes.cycle();
    drain(*port, nodes);
    if (traced) trace.ends(port->now());
    return std::pair(port->fingerprint(), nodes.sent() / traffic.packet_size);
  };
  const auto traced = run(true);
  EXPECT_EQ(run(false), traced);
  EXPECT_EQ(trace.messages().size(), traced.second);
  EXPECT_GE(traced.second, am::kit::nodes_of(trace.topology()));
  expect_consistent(trace, times.engines);
  ASSERT_EQ(trace.messages().size(), trace.arrivals().size());
  std::map<std::pair<NodeNumber, NodeNumber>, std::uint32_t> last;
  std::uint64_t expected = 0, shown = 0;
  for (const auto& [end, passages] : trace.ways()) {
    const auto& message = trace.messages()[end.message];
    EXPECT_EQ(std::pair(message.to, message.kind), std::pair(end.node, traffic.channel));
    EXPECT_EQ(passages.size(), 2 + distance(trace.topology(), message.from, message.to));
    expected += 2 * times.of_node + (passages.size() - 2) * times.between;
    const auto before = std::exchange(last[{message.from, message.to}], end.message);
    EXPECT_TRUE(!ordered || before <= end.message) << before << " was overtaken by " << end.message;
  }
  for (const auto& [link, some] : flits_by_link(trace)) shown += some;
  EXPECT_EQ(shown, expected);
}
inline void expect_all_comes(const MakePort& make, const am::kit::Traffic& traffic, bool ordered) {
  expect_all_comes(make, traffic, ordered, LinkTimes(traffic.packet_size));
}
inline void expect_all_comes_in_order(const MakePort& make, std::uint32_t flits, unsigned channel) {
  for (const auto pattern : am::kit::patterns)
    expect_all_comes(make, {pattern, 1, flits, channel, seed()}, true);
}

}  // namespace test
