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
// Each node sends a flit in each cycle, if it has one and there is room, and a packet on the next virtual channel with room. It takes what
// comes at once. As BookSim2's nodes do.
//
// So a packet of n flits whose way has h channels between routers takes 2 + 5 (h + 1) + n - 1 cycles when it meets no other, and a cycle
// less in each router with routing_delay 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "emulated_hw/kit/flit.hpp"
#include "emulated_hw/kit/node_port.hpp"
#include "emulated_hw/kit/node_set.hpp"
#include "emulated_hw/kit/textbook_router.hpp"

namespace am::kit {

class TextbookNetwork final : public NodePort {
 public:
  struct Options {
    unsigned num_vcs = 4;      ///< virtual channels of each port
    unsigned vc_buf_size = 6;  ///< flits
    unsigned routing_delay =
        1;  ///< cycles; 0: a head comes with its route, which the router before has looked up
  };

  /// Throws std::invalid_argument.
  TextbookNetwork(const Topology& topology, const Options& options);

  [[nodiscard]] bool has_room(NodeNumber node, unsigned /*channel*/) const override {
    return nodes_[node].left == 0 && nodes_[node].with_credit != 0;
  }
  void inject(NodeNumber node, const Packet& packet) override;
  [[nodiscard]] Cycle now() const override { return now_; }
  void step(std::span<const RouterNumber> order) override;
  [[nodiscard]] bool is_empty() const override { return senders_.empty() && flits() == 0; }
  [[nodiscard]] Cycle still_for() const override { return now_ - last_move_; }
  void add_waits(Waits& waits) const override;
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }
  [[nodiscard]] Cycle zero_load_latency(unsigned links, std::uint32_t flits) const override;
  [[nodiscard]] std::vector<LinkCount> links() const override;
  void record(Trace* trace) override { trace_ = trace; }

  [[nodiscard]] const RouterShape& shape() const noexcept { return shape_; }
  /// Flits in the routers' buffers and on channels.
  [[nodiscard]] std::uint64_t flits() const;
  /// f(router), whichever width that has.
  template <class F>
  auto of_router(RouterNumber router, F f) const {
    return std::visit([&](const auto& all) { return f(all[router]); }, routers_);
  }

 private:
  static constexpr unsigned flit_delay = 3;
  static constexpr unsigned from_node_delay = 2;
  static constexpr unsigned credit_delay = 3;
  static constexpr unsigned to_node_credit_delay = 2;
  static constexpr unsigned slots = 4;  // cycles on a delay line, this one included
  static_assert(flit_delay < slots && credit_delay < slots);

  /// What comes to a router in one cycle.
  struct Arrivals {
    std::uint32_t with_flit = 0;    // ports
    std::uint32_t with_credit = 0;  // ports
  };
  /// The same to a node, which takes it.
  struct AtNode {
    Flit flit;
    std::uint8_t credit = 0;  // the virtual channel on which it may send one flit more, and 1; 0: none
  };
  struct Node {
    Packet packet{};         // that is being sent
    std::uint32_t left = 0;  // of its flits
    RoundRobin next_vc{};
    unsigned vc = 0;
    Requests with_credit = 0;  // virtual channels
  };
  /// Where an output of a router leads: to an input of another, or to a node.
  struct End {
    static constexpr std::uint8_t node = 255;  // in place of a port

    std::uint32_t number = nowhere;
    std::uint8_t port = node;
    std::uint32_t line = 0;  // of that input
  };
  [[nodiscard]] std::size_t line(RouterNumber router, unsigned port) const noexcept {
    return std::size_t{router} * shape_.ports + port;
  }
  [[nodiscard]] End input(const Place& place) const noexcept {
    return {place.router, static_cast<std::uint8_t>(place.port),
            static_cast<std::uint32_t>(line(place.router, place.port))};
  }
  /// What comes in one cycle.
  struct Slot {
    std::vector<Flit> flits;            // by line
    std::vector<std::uint8_t> credits;  // by line: vc
    std::vector<Arrivals> to_router;
    std::vector<AtNode> to_node;
    NodeSet to_step;  // routers with something to do
    NodeSet to_take;  // nodes to which something comes
  };
  [[nodiscard]] Slot& in(Cycle when) noexcept { return slots_[when % slots]; }
  void arrive(Cycle when, const End& end, Flit flit) noexcept {
    Slot& slot = in(when);
    slot.flits[end.line] = flit;
    slot.to_router[end.number].with_flit |= 1u << end.port;
    slot.to_step.put(end.number);
  }
  void give_back(Cycle when, const End& end, unsigned vc) noexcept {
    Slot& slot = in(when);
    slot.credits[end.line] = static_cast<std::uint8_t>(vc);
    slot.to_router[end.number].with_credit |= 1u << end.port;
    slot.to_step.put(end.number);
  }
  using NarrowRouters = std::vector<TextbookRouter<1>>;
  using WideRouters = std::vector<TextbookRouter<4>>;

  template <class OneTopology, class Routers>
  void wire(const OneTopology& topology, Routers& routers);
  void send(NodeNumber node);
  void take(NodeNumber node);
  template <class OneTopology, class Router>
  void step(const OneTopology& topology, RouterNumber number, Router& router);
  template <class OneTopology>
  [[nodiscard]] Route route(const OneTopology& topology, RouterNumber here, unsigned port,
                            Flit flit) const noexcept;
  void pass(RouterNumber from, unsigned port, Flit flit);
  void freed(RouterNumber at, unsigned port, unsigned vc) noexcept;
  template <class Router>
  void add_who_waits(const Router& router, RouterNumber number, unsigned input, Waits& waits) const;

  const RouterShape shape_;
  std::array<std::uint32_t, 4> vcs_of_{};  // by the classes that a packet may take
  Cycle now_ = 0;
  std::vector<Flit> buffers_;
  std::variant<NarrowRouters, WideRouters> routers_;
  std::vector<End> ends_;                // by line
  std::vector<End> places_;              // by node: the other end of its link
  std::vector<std::uint64_t> passed_;    // by line: flits
  std::vector<std::uint64_t> injected_;  // by node: flits
  std::array<Slot, slots> slots_;
  std::vector<Node> nodes_;
  std::vector<std::array<std::uint8_t, RouterShape::most_vcs>> node_credits_;  // by node and virtual channel
  NodeSet senders_;                                                            // nodes that have flits left
  std::uint64_t fingerprint_ = 0;
  Cycle last_move_ = 0;
  Trace* trace_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> recorded_;  // packets under way: what trace_ calls them
};

}  // namespace am::kit
