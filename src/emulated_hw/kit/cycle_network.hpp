// Routers of any topology under one clock, with the channels between them: every flit and every credit takes at least a cycle.
//
// Channels are delay lines: what is sent in cycle t is written into the slot of t + delay, which nobody reads before. So the order
// in which routers are stepped cannot be seen. A router that has nothing to do and to which nothing comes is not stepped.
//
// The delays are those of BookSim2, where a channel of latency 1 brings in cycle t + 2 what a router sends at the end of cycle t:
//
//   a flit, from its turn on the switch to the next router (or its node): st_final_delay 1, then the channel     3
//   a flit, from its node to the router                                                                          2
//   a credit, from the turn on the switch to the router before, which takes credit_delay 1 to see it             3
//   the same to a node, which sees it at once                                                                    2
//   a credit, from a node that takes a flit to its router                                                        3
//
// So a packet of n flits whose way has h channels between routers takes 2 + 5 (h + 1) + n - 1 cycles when it meets no other, and a cycle
// less in each router with routing_delay 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "emulated_hw/kit/calendar.hpp"
#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/flit.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/ports.hpp"
#include "emulated_hw/kit/router_view.hpp"
#include "emulated_hw/kit/textbook_router.hpp"
#include "emulated_hw/kit/topology.hpp"
#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::kit {

class CycleNetwork {
 public:
  struct Options {
    unsigned num_vcs = 4;      ///< virtual channels of each port
    unsigned vc_buf_size = 6;  ///< flits
    unsigned routing_delay =
        1;  ///< cycles; 0: a head comes with its route, which the router before has looked up
  };
  static constexpr unsigned flit_delay = 3;
  static constexpr unsigned from_node_delay = 2;
  static constexpr unsigned credit_delay = 3;
  static constexpr unsigned to_node_credit_delay = 2;

  /// Throws std::invalid_argument.
  CycleNetwork(const Topology& topology, const Options& options);

  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return static_cast<NodeNumber>(places_.size()); }
  [[nodiscard]] RouterNumber routers() const noexcept { return router_count_; }
  [[nodiscard]] const RouterShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Cycle now() const noexcept { return now_; }

  // What a node does in a cycle, before step().

  /// Sends a flit on its virtual channel, of which the node has to keep count by the credits that come: it begins with
  /// vc_buf_size of each. At most one in a cycle.
  void inject(NodeNumber node, Flit flit) {
    arrive(now_ + from_node_delay, places_[node], flit);
    ++injected_[node];
    last_move_ = now_;
    if (trace_ != nullptr) [[unlikely]]
      record_injection(node, flit);
  }
  /// The flit that comes out at a node in this cycle, or none. It has to be taken.
  [[nodiscard]] Flit ejected(NodeNumber node) const noexcept { return nodes_[slot(now_)][node].flit; }
  /// The virtual channel on which the node may send one flit more from this cycle on; or none, which is -1.
  [[nodiscard]] int credit(NodeNumber node) const noexcept {
    return int{nodes_[slot(now_)][node].credit} - 1;
  }
  /// Calls f(node, ejected(node), credit(node)) for each node to which a flit or a credit comes in this cycle.
  template <class F>
  void for_each_arrival(F f) const {
    const AtNode* const nodes = nodes_[slot(now_)].data();
    to_nodes_[slot(now_)].for_each(
        [&](NodeNumber node) { f(node, nodes[node].flit, int{nodes[node].credit} - 1); });
  }
  /// The node has taken the flit that came on that channel.
  void taken(NodeNumber node, unsigned vc) {
    give_back(now_ + credit_delay, places_[node], vc);
    if (trace_ != nullptr) [[unlikely]]
      record_arrival(node);
  }

  /// Tells it from now on what happens, until it is told otherwise; before anything is injected. It outlives that.
  void record(Trace* trace) noexcept { trace_ = trace; }

  /// One cycle of all routers. `order`: if given, all of them, in the order in which they are stepped.
  void step(std::span<const RouterNumber> order = {});

  /// Calls f(link, flits) for each: how many it has carried so far. Nodes' first, in the order of numbers and ports.
  template <class F>
  void for_each_link(F f) const {
    for (NodeNumber node = 0; node < nodes(); ++node) f(Link{node}, injected_[node]);
    for (RouterNumber router = 0; router < routers(); ++router) {
      for (unsigned port = 0; port < shape_.ports; ++port) {
        if (ends_[line(router, port)].number != nowhere) f(Link{router, port}, passed_[line(router, port)]);
      }
    }
  }
  /// Flits in the routers' buffers and on channels.
  [[nodiscard]] std::uint64_t flits() const noexcept;
  [[nodiscard]] RouterView router(RouterNumber router) const {
    return std::visit([=](const auto& all) { return RouterView(&all[router]); }, routers_);
  }
  /// A number that depends on everything that has passed a switch, when and where.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// Cycles since a flit has last come in or passed a switch.
  [[nodiscard]] Cycle still_for() const noexcept { return now_ - last_move_; }
  /// Adds each input that has a flit.
  void add_waits(Waits& waits) const;

 private:
  static constexpr unsigned slots = 4;  // cycles on a delay line, this one included
  static_assert(flit_delay < slots && credit_delay < slots);
  static std::size_t slot(Cycle at) noexcept { return at % slots; }

  /// What comes to a router in one cycle.
  struct Arrivals {
    std::uint32_t with_flit = 0;    // ports
    std::uint32_t with_credit = 0;  // ports
  };
  struct AtNode {
    Flit flit;
    std::uint8_t credit = 0;  // vc + 1
  };
  /// Where an output of a router leads: to an input of another, or to a node.
  struct End {
    static constexpr std::uint8_t node = 255;  // in place of a port

    std::uint32_t number = nowhere;
    std::uint8_t port = node;
  };
  [[nodiscard]] std::size_t line(RouterNumber router, unsigned port) const noexcept {
    return std::size_t{router} * shape_.ports + port;
  }
  void arrive(Cycle when, End end, Flit flit) noexcept {
    const std::size_t at = slot(when);
    flits_[at][line(end.number, end.port)] = flit;
    arrivals_[at][end.number].with_flit |= 1u << end.port;
    to_step_.put(when, end.number);
  }
  void give_back(Cycle when, End end, unsigned vc) noexcept {
    const std::size_t at = slot(when);
    credits_[at][line(end.number, end.port)] = static_cast<std::uint8_t>(vc);
    arrivals_[at][end.number].with_credit |= 1u << end.port;
    to_step_.put(when, end.number);
  }
  using NarrowRouters = std::vector<TextbookRouter<1>>;
  using WideRouters = std::vector<TextbookRouter<4>>;

  void add_who_waits(RouterNumber number, unsigned input, Waits& waits) const;
  template <class OneTopology, class Routers>
  void wire(const OneTopology& topology, Routers& routers);
  template <class OneTopology, class Router>
  void step(const OneTopology& topology, RouterNumber number, Router& router);
  template <class OneTopology>
  [[nodiscard]] Route route(const OneTopology& topology, RouterNumber here, unsigned port,
                            Flit flit) const noexcept;
  void send(RouterNumber from, unsigned port, Flit flit);
  void freed(RouterNumber at, unsigned port, unsigned vc) noexcept;
  [[gnu::cold]] void record_injection(NodeNumber node, Flit flit);
  [[gnu::cold]] void record_passage(RouterNumber from, unsigned port, Flit flit);
  [[gnu::cold]] void record_arrival(NodeNumber node);

  const Topology topology_;
  const FastTopology ways_;
  const RouterShape shape_;
  std::array<std::uint32_t, 4> vcs_of_{};  // by the classes that a packet may take
  Cycle now_ = 0;
  std::vector<Flit> buffers_;
  const RouterNumber router_count_;
  std::variant<NarrowRouters, WideRouters> routers_;
  std::vector<End> ends_;                                 // by line
  std::vector<End> places_;                               // by node: the other end of its link
  std::vector<std::uint64_t> passed_;                     // by line: flits
  std::vector<std::uint64_t> injected_;                   // by node: flits
  std::array<std::vector<Flit>, slots> flits_;            // by line: what comes to it
  std::array<std::vector<std::uint8_t>, slots> credits_;  // by line: vc
  std::array<std::vector<Arrivals>, slots> arrivals_;     // by router
  std::array<std::vector<AtNode>, slots> nodes_;
  Calendar to_step_;                     // routers with something to do
  std::array<NodeSet, slots> to_nodes_;  // nodes to which something comes then
  std::uint64_t fingerprint_ = 0;
  Cycle last_move_ = 0;
  Trace* trace_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> recorded_;  // packets under way: what trace_ calls them
};

}  // namespace am::kit
