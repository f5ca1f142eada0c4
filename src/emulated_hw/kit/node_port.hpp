// How nodes get packets into a network under the clock, and out of it. What works on any network asks for no more: traffic, figures,
// traces. In each cycle:
//
//   for (const NodePort::Arrival& arrival : port.arrivals()) ...  // what has come to nodes, which they have taken
//   if (port.has_room(node, channel)) port.inject(node, {...});
//   port.step({});
//
// A node hands over a whole packet, and the network takes its flits as it can. So a virtual call costs once for a packet, not for
// each flit. Nodes take what comes at once.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/names.hpp"
#include "emulated_hw/kit/text.hpp"
#include "emulated_hw/kit/topology.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::kit {

class NodePort {
 public:
  virtual ~NodePort() = default;
  NodePort(const NodePort&) = delete;
  NodePort& operator=(const NodePort&) = delete;

  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] NodeNumber nodes() const { return nodes_of(topology_); }
  /// From each node into the network, by number: its priorities, or kinds of packets. Their names are also those of a trace's messages.
  [[nodiscard]] const std::vector<std::string>& channels() const noexcept { return channels_; }
  /// Throws std::invalid_argument, which names them all.
  [[nodiscard]] unsigned channel_named(std::string_view name) const {
    return static_cast<unsigned>(index_of_name("channel", name, channels_));
  }
  /// Flits that a packet may have.
  struct Sizes {
    std::uint32_t least = 1;
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  };
  [[nodiscard]] const Sizes& packet_sizes() const noexcept { return packet_sizes_; }
  /// That a flit takes on a link: a flit time. Loads are in flits per flit time.
  [[nodiscard]] Cycle flit_cycles() const noexcept { return flit_cycles_; }

  // -- what nodes do in a cycle, before step()

  struct Packet {
    std::uint32_t number = 0;  ///< no other that is under way has it
    NodeNumber to = 0;
    std::uint32_t flits = 1;
    unsigned channel = 0;
  };
  /// Whether a node may inject a packet on that channel now.
  [[nodiscard]] virtual bool has_room(NodeNumber node, unsigned channel) const = 0;
  /// There is room.
  virtual void inject(NodeNumber node, const Packet& packet) = 0;

  /// Flits of a packet that have come to a node together.
  struct Arrival {
    Cycle at = 0;  ///< when the node could use them first
    NodeNumber node = 0;
    std::uint32_t packet = 0;  ///< its number
    std::uint32_t flits = 0;
    bool head = false;  ///< with its first one
    bool tail = false;  ///< with its last one
  };
  /// In the last step, in the order of nodes: so who gives numbers to packets does the same in any order of routers.
  [[nodiscard]] std::span<const Arrival> arrivals() const noexcept { return arrivals_; }

  // -- the network

  [[nodiscard]] virtual Cycle now() const = 0;
  /// One cycle. `order`: if given, all routers, in the order in which they are stepped.
  virtual void step(std::span<const RouterNumber> order) = 0;
  /// Nothing is under way or waits to be.
  [[nodiscard]] virtual bool is_empty() const = 0;
  /// Cycles since anything has last moved.
  [[nodiscard]] virtual Cycle still_for() const = 0;
  /// Adds what does not get on.
  virtual void add_waits(Waits& waits) const = 0;
  /// A number that depends on everything that has passed the network, when and where.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// From inject() until a packet's last flit has come, over so many links between routers, where it meets no other.
  [[nodiscard]] virtual Cycle zero_load_latency(unsigned links, std::uint32_t flits) const = 0;
  /// The same of two nodes: of a machine whose corners take longer, its own sum.
  [[nodiscard]] virtual Cycle zero_load_between(NodeNumber from, NodeNumber to, std::uint32_t flits) const {
    return zero_load_latency(distance(topology_, from, to), flits);
  }
  struct LinkCount {
    Link link;
    std::uint64_t flits = 0;  ///< that it has carried so far
  };
  /// All of them, always in the same order.
  [[nodiscard]] virtual std::vector<LinkCount> links() const = 0;
  /// Tells it from now on what happens, before anything is injected. It outlives that.
  virtual void record(Trace* trace) = 0;

 protected:
  NodePort(const Topology& topology, std::vector<std::string> channels, const Sizes& packet_sizes,
           Cycle flit_cycles = 1)
      : topology_(topology),
        channels_(std::move(channels)),
        packet_sizes_(packet_sizes),
        flit_cycles_(flit_cycles) {}
  /// The links of nodes, then those of routers by the ports that lead anywhere, to routers or nodes. `flits(Link)` is what each has carried.
  template <class Flits, class Leads>
  [[nodiscard]] std::vector<LinkCount> count_links(Flits flits, Leads leads_anywhere) const {
    std::vector<LinkCount> all;
    const auto add = [&](const Link& link) { all.push_back({link, flits(link)}); };
    for (NodeNumber node = 0; node < nodes(); ++node) add({node});
    for (RouterNumber router = 0; router < routers_of(topology_); ++router) {
      for (unsigned port = 0; port < ports_of(topology_); ++port) {
        if (leads_anywhere(router, port)) add({router, port});
      }
    }
    return all;
  }
  /// Where each node has a router of its own.
  template <class Flits>
  [[nodiscard]] std::vector<LinkCount> count_links(Flits flits) const {
    return count_links(flits, [this](RouterNumber router, unsigned port) {
      return port == 0 || neighbour(topology_, router, port) != nowhere;
    });
  }
  std::vector<Arrival> arrivals_;

 private:
  const Topology topology_;
  const std::vector<std::string> channels_;
  const Sizes packet_sizes_;
  const Cycle flit_cycles_;
};

/// The watchdog: throws std::runtime_error with who waits for whom where something is under way and nothing has moved for so long.
inline void check_that_it_moves(const NodePort& port, Cycle patience = 1000) {
  if (port.still_for() > patience && !port.is_empty())
    throw std::runtime_error(
        text_of("nothing has moved for ", port.still_for(), " cycles:\n", who_waits(port)));
}

}  // namespace am::kit
