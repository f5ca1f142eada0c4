// A data network of the CM-5 under the network's clock of 25 ns (von Eicken 1993, 3.2.3): a fat tree of routers that cut through.
//
// A link has four wires each way and carries a flit of 4 bits a cycle. A data word is 8 flits, length and tag are one each, and the address
// is as long as the message has levels to climb. "Each router takes 8 cycles to route a message if the network is idle." So a message that
// climbs to level l is there 8 (2 l - 1) + flits(words, l) cycles after its first flit: through 9 routers in 1.8 us, behind it the longest
// message's 1.2 us. (The text has the CRC take 8 flits. Then the longest message would have 50 and the address, not the 48 that it prints:
// here the CRC and each level of the address take a flit.)
//
// Up, a router takes "the possible up-links choosing randomly among the idle ones"; down there is one way. "Each input buffer can hold
// approximately one message", so what is blocked lies in one buffer, and holds no channel behind it. In all-fall-down mode each message goes down
// from where it is, whatever its destination, "to the closest processing node".
//
// To the kit a message is one flit, and a router goes on with it when its head has come. No messages wait for each other in a circle: up
// waits for up or down, and down for what is further down (kit/fat_tree.hpp), as long as nodes take what comes.
//
// Assumed: an idle link is one that carries nothing, and has room behind it; flow control takes 8 cycles back; inputs have an output in turns; a
// message takes any idle one of its node's links, at random; in all-fall-down it goes down by any idle link, at random; the address does not get
// shorter on the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/cm5/message.hpp"
#include "emulated_hw/cm5/tree.hpp"
#include "emulated_hw/kit/word_network.hpp"

namespace am::cm5 {

using kit::Cycle;

inline constexpr unsigned cycle_ns = 25;    ///< 40 MHz
inline constexpr unsigned hop_cycles = 8;   ///< from the first flit in to the first flit out
inline constexpr unsigned word_flits = 8;   ///< of 4 bits
inline constexpr unsigned frame_flits = 3;  ///< length and tag; and the CRC: assumed

[[nodiscard]] constexpr unsigned flits(unsigned words, unsigned levels) noexcept {
  return word_flits * words + frame_flits + levels;
}
/// From a message's first flit until it has come whole.
[[nodiscard]] constexpr Cycle latency(unsigned words, unsigned levels) noexcept {
  return Cycle{hop_cycles} * (2 * levels - 1) + flits(words, levels);
}

class Router {
 public:
  using Word = Message;
  static constexpr unsigned head_cycles = 1;                           ///< the first flit
  static constexpr unsigned router_cycles = hop_cycles - head_cycles;  ///< one of the 8 is on the wire
  static constexpr unsigned credit_cycles = 8;                         ///< assumed
  static constexpr unsigned buffer = 1;                                ///< message
  static constexpr unsigned places = 1;

  Router(const Tree& tree, std::uint64_t seed)
      : routers_(tree.routers()), falls_(routers_.size()), seed_(seed) {}

  [[nodiscard]] kit::Way way(kit::PartNumber here, unsigned /*port*/, const Message& message) const noexcept {
    const Tree::Router& router = routers_[here];
    if (falls_[here]) return {.outputs = router.down, .any_one = true};
    if (!router.has_below(message.to)) return {.outputs = router.up, .any_one = true};
    return {.outputs = std::uint64_t{1} << router.child_above(message.to)};
  }
  /// Random, but the same in any order of steps.
  [[nodiscard]] std::uint64_t choose(std::uint64_t idle, kit::WireNumber input, Cycle now) const noexcept {
    const std::uint64_t random = kit::mixed(kit::mixed(kit::mixed(seed_, input), now), now << 32);
    return std::uint64_t{1} << kit::one_of(static_cast<kit::Ports>(idle),
                                           static_cast<std::uint32_t>(random >> 32));
  }
  /// Of a message, the tag counts the flits.
  [[nodiscard]] static constexpr unsigned cycles(std::uint8_t tag, const kit::Wire& /*link*/) noexcept {
    return tag;
  }
  [[nodiscard]] static constexpr bool takes_room(std::uint8_t /*tag*/) noexcept { return true; }
  [[nodiscard]] static constexpr bool ends(std::uint8_t /*tag*/) noexcept { return true; }
  [[nodiscard]] static std::uint64_t print(const Message& message) noexcept {
    std::uint64_t print = kit::mixed(message.to, std::uint64_t{message.tag} << 8 | message.length);
    for (unsigned i = 0; i < message.length; ++i) print = kit::mixed(print, message.words[i]);
    return print;
  }
  [[nodiscard]] static std::string name(const Message& message) {
    return "a message to node " + std::to_string(message.to);
  }

  [[nodiscard]] const std::vector<Tree::Router>& routers() const noexcept { return routers_; }
  void falls(kit::PartNumber router, bool on) { falls_[router] = on; }

 private:
  std::vector<Tree::Router> routers_;
  std::vector<bool> falls_;  // by router: it is in all-fall-down mode
  std::uint64_t seed_;
};

class Network : public kit::WordNetwork<Router> {
 public:
  /// `name` is for waits; `channel`, for traces. Throws std::invalid_argument.
  explicit Network(NodeNumber nodes, std::uint64_t seed = 1, const std::string& name = {},
                   unsigned channel = 0)
      : Network(Tree(nodes), seed, name, channel) {}

  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }

  [[nodiscard]] bool has_idle_link(NodeNumber node) const { return idle_links(node) != 0; }
  /// Sends it by a link that is idle. False: there is none. Throws std::out_of_range where there is no such node.
  bool launch(NodeNumber from, const Message& message) {
    if (message.to >= tree_.nodes())
      throw std::out_of_range("cm5: node " + std::to_string(from) + " sends to node " +
                              std::to_string(message.to) + ", and there is none");
    const std::uint64_t idle = idle_links(from);
    if (idle == 0) return false;
    const unsigned link = policy().choose(idle, out_of(from, 0), now()) == 1 ? 0 : 1;
    const unsigned length = flits(message.length, tree_.levels_to_climb(from, message.to));
    std::uint32_t recorded = kit::Trace::nothing;
    if (trace() != nullptr) {
      recorded = trace()->begins(from, message.to, channel_);
      trace()->passes(recorded, from, kit::Trace::injection, now(), length);
    }
    send(out_of(from, link), {message, static_cast<Tag>(length), recorded});
    return true;
  }
  /// What has come to a node by that wire; there is something.
  Message take_at(NodeNumber node, kit::WireNumber wire) {
    const Flit come = *front(wire);
    if (trace() != nullptr) trace()->comes(come.message, node, now());
    take(wire);
    return come.word;
  }
  /// Routers that have nodes of the partition below them, and no others, let every message fall to one of these; or do so no more.
  /// A message that has been given its way, but still waits, is given another.
  void all_fall_down(const Partition& partition, bool on) {
    const std::vector<Tree::Router>& routers = policy().routers();
    for (kit::PartNumber number = 0; number < routers.size(); ++number) {
      const Tree::Router& router = routers[number];
      if (router.down == 0) continue;
      const NodeNumber end = std::min(router.first + router.nodes(), tree_.nodes());
      if (!partition.contains(router.first) || !partition.contains(end - 1)) continue;
      policy().falls(number, on);
      forget_ways(number);
    }
  }

 private:
  Network(const Tree& tree, std::uint64_t seed, const std::string& name, unsigned channel)
      : WordNetwork(tree.wiring(flits(most_words, tree.levels())), Router(tree, seed), name),
        tree_(tree),
        channel_(channel) {}
  /// As bits.
  [[nodiscard]] std::uint64_t idle_links(NodeNumber node) const {
    return (has_room(out_of(node, 0)) ? 0b01u : 0u) | (has_room(out_of(node, 1)) ? 0b10u : 0u);
  }

  Tree tree_;
  unsigned channel_;
};

class DataNetworks : public BySide<Network> {
 public:
  /// Throws std::invalid_argument.
  DataNetworks(NodeNumber nodes, std::uint64_t seed)
      : BySide{{Network(nodes, kit::mixed(seed, 1), "left "),
                Network(nodes, kit::mixed(seed, 2), "right ", 1)}} {}

  // Of both together, as Network.

  [[nodiscard]] Cycle now() const noexcept { return both[0].now(); }
  void step(std::span<const kit::PartNumber> order = {}) {
    for (Network& network : both) network.step(order);
  }
  [[nodiscard]] std::uint64_t under_way() const noexcept { return both[0].under_way() + both[1].under_way(); }
  [[nodiscard]] Cycle still_for() const noexcept {
    return std::min(both[0].still_for(), both[1].still_for());
  }
  void add_waits(kit::Waits& waits) const {
    for (const Network& network : both) network.add_waits(waits);
  }
  [[nodiscard]] std::uint64_t fingerprint() const noexcept {
    return kit::mixed(both[0].fingerprint(), both[1].fingerprint());
  }
  void record(kit::Trace* trace) noexcept {
    for (Network& network : both) network.record(trace, [](unsigned port) { return port; });
  }
};

}  // namespace am::cm5
