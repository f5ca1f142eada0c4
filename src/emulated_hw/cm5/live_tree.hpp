// A data network of the CM-5 live: the routers of its fat tree (tree.hpp) in memory that the processes of a job share (kit/live_network.hpp;
// von Eicken 1993, 3.2.3).
//
// As under the clock (network.hpp) a message climbs by any parent that has room, the first that is tried at random, until its node is
// below, and goes down the only way. An input holds one message. All parents of a router have one word, which says what was let into them
// last, and into which: so a message takes one of them by one compare-and-swap (kit/live_link.hpp). A node has two parents, and so counts
// what comes by each of them apart: an entry names inputs of one router alone.
//
// All-fall-down. While the network is frozen nothing is injected, and a message falls: it goes down, whatever its destination, and into
// the memory of the nodes below the lowest router that it comes to. Whether it falls is written where it is brought, by the
// compare-and-swap that brings it, so all who carry it do the same, whoever saw the network freeze or thaw. It falls until it is saved.
// Memory is one more input, a long one: when the network is thawed, what lies there goes on by the same moves, to its destination. So
// it is injected again exactly once, by anybody.
//
// No messages wait for each other in a circle. Up waits for further up, or for down; down for further down; nodes take all, and memory has
// room for all that can fall there. What falls goes down only.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated_hw/cm5/live_message.hpp"
#include "emulated_hw/cm5/tree.hpp"
#include "emulated_hw/kit/fingerprint.hpp"
#include "emulated_hw/kit/live_link.hpp"
#include "emulated_hw/kit/live_move_carrier.hpp"

namespace am::cm5 {

// Channels of a router, in and out: its children, its parents, and what is saved by the nodes below a lowest one.
inline constexpr unsigned first_parent = Tree::children;
inline constexpr unsigned saved = 2 * Tree::children;
inline constexpr unsigned live_channels = saved + 1;
static_assert(live_channels <= kit::LinkEntry::most_inputs &&
              Tree::children <= kit::LinkEntry::most_channels);

/// Of a lowest router's memory. All routers above one hold 848 at most; who carries may bring one more each that does not know yet.
inline constexpr std::uint32_t memory_cells = 1024;
/// "Each input buffer can hold approximately one message."
inline constexpr unsigned input_cells = 1;

struct LiveTurn {
  kit::Tally<std::uint8_t> first;  ///< input, in the next decision
};
struct LiveRouter : kit::LiveInputs<live_channels, LiveTurn> {
  alignas(64) std::atomic<kit::Word> climbed;  ///< kit::LinkEntry: what was let into its parents
};

/// Of the network of so many nodes: 1 to 1024. A node alone has a router, too. Throws std::invalid_argument.
[[nodiscard]] inline Tree live_tree(NodeNumber nodes) { return Tree(nodes == 1 ? 2 : nodes); }

class LiveTree;

/// Where a message goes: to one of several parents, or a child, or into memory; or to a node.
struct LiveEnd {
  static constexpr unsigned most = 1;  ///< of one message

  const LiveTree* tree;
  kit::RouterNumber at;
  std::uint32_t packet;             ///< what it is there
  std::atomic<kit::Word>* entries;  ///< none: it ends here, and counts nowhere
  kit::Requests ways;               ///< outputs, of which it takes one
  unsigned output;                  ///< the first that is tried; the one, when it has been let in
  kit::LiveChannel* channel;        ///< the one; none: the node
  bool waits;                       ///< for the network to be thawed: unless it has been let in

  [[nodiscard]] constexpr bool climbs() const noexcept { return output >= first_parent && output < saved; }
  [[nodiscard]] constexpr bool is_node() const noexcept { return channel == nullptr && !climbs(); }

  // Where the one of that number lies in `channel`.

  [[nodiscard]] std::atomic<kit::Word>& place(kit::Word number) const noexcept;
  [[nodiscard]] std::uint32_t lap(kit::Word number) const noexcept;

  // How `entries` is read.

  [[nodiscard]] bool names(kit::Word last, unsigned input, kit::Word number) const noexcept {
    return climbs() ? kit::LinkEntry(last).names(input, number) : kit::Entry{last}.names(input, number);
  }
  [[nodiscard]] unsigned input(kit::Word last) const noexcept {
    return climbs() ? kit::LinkEntry(last).input() : kit::Entry{last}.input();
  }
  template <class See>
  [[nodiscard]] kit::Word next(kit::Word last, unsigned input, kit::Word number, See see) const;
  [[nodiscard]] kit::Requests outputs() const noexcept { return waits ? 0 : ways; }
  void let_in(kit::Word entry) noexcept;
  [[nodiscard]] kit::Word number(kit::Word entry) const noexcept {
    if (!climbs()) return kit::Entry{entry}.count() - 1;
    const kit::LinkEntry seen(entry);
    return (seen.count(seen.channel()) - 1) % kit::LinkEntry::counts;
  }
};

class LiveTree final : public kit::LiveNetwork<LiveTree, LiveRouter> {
 public:
  /// For tests too, which stop and end carriers.
  template <class Pause = kit::NoPause>
  using Carrier = kit::LiveMoveCarrier<LiveTree, Pause>;
  using Nodes = kit::LiveNodes<Counted>;
  static constexpr std::uint32_t number = 4;  ///< of this machine, in shared memory

  /// Of shared memory, for so many nodes.
  [[nodiscard]] static std::size_t bytes(NodeNumber nodes);
  /// 1 to 1024 nodes. Throws std::invalid_argument. `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveTree(NodeNumber nodes, std::byte* memory, Nodes& nodes_that_count);

  /// By which a node injects: of each of its links.
  [[nodiscard]] static constexpr std::array<kit::InputAt, Tree::links> entrances(NodeNumber node) noexcept {
    const kit::RouterNumber first = node / Tree::children * Tree::links;
    return {{{first, node % Tree::children}, {first + 1, node % Tree::children}}};
  }

  // By the node itself, one thread at a time.

  /// Puts a message into one of its links: false, and nothing has happened, where there is no room, or the network is frozen.
  /// carry(node) is to follow.
  [[nodiscard]] bool inject(NodeNumber node, const LiveMessage& message) noexcept;
  /// Asks for Nodes::has_room when inject() would find room. True: it would by now.
  [[nodiscard]] bool ask_for_room(NodeNumber node) noexcept {
    bool any = false;
    for (const auto& [router, input] : entrances(node))
      any = ask_for_room_at(router, input, input_cells) || any;
    return any && frozen_until() == 0;
  }
  /// Whether all that a node has injected has left its links.
  [[nodiscard]] bool has_gone(NodeNumber node) const noexcept {
    return std::ranges::none_of(entrances(node), [this](const kit::InputAt& its) { return holds_any(its); });
  }

  // By anybody.

  /// Moves what can move, beginning with what this node has injected: until nothing can, or for many steps.
  void carry(NodeNumber node) noexcept {
    for (const kit::InputAt& its : entrances(node)) {
      if (holds_any(its)) carry_from(its.router, its.input);
    }
  }

  /// False: it is frozen by another. `until`, which is not 0, is for those who see it frozen: from then on they may thaw it, too.
  [[nodiscard]] bool freeze(std::uint64_t until) noexcept {
    kit::Word thawed = 0;
    return frozen_->compare_exchange_strong(thawed, until, std::memory_order_seq_cst);
  }
  /// 0: it is not.
  [[nodiscard]] std::uint64_t frozen_until() const noexcept {
    return frozen_->load(std::memory_order_seq_cst);
  }
  /// Lets everything in it fall, as far as it can at once. Whether nothing was left then.
  bool fall() noexcept;
  /// What `until` is for: whoever has frozen it, or comes later. What has been saved goes on.
  void thaw(std::uint64_t until) noexcept;

  // What a carrier asks (kit/live_carrier.hpp, kit/live_move_carrier.hpp). A way is 1 and the output
  // that is tried first.

  static constexpr unsigned cells_of(unsigned output) noexcept {
    return output == saved ? memory_cells : input_cells;
  }
  static constexpr std::uint32_t lap_of_cell(kit::Word its_number) noexcept {
    return static_cast<std::uint32_t>(its_number / memory_cells + 1);
  }
  /// Of a lowest router; these are the first.
  [[nodiscard]] std::atomic<kit::Word>& cell(kit::RouterNumber at, kit::Word its_number) const noexcept {
    return cells_[at * std::size_t{memory_cells} + its_number % memory_cells];
  }

  static constexpr unsigned channels = live_channels;
  static constexpr std::array<unsigned, Tree::children> injected{0, 1, 2, 3};  // of lowest routers
  using End = LiveEnd;
  using Arrival = kit::LiveArrival<Counted>;

  [[nodiscard]] Nodes& nodes() const noexcept { return nodes_; }
  [[nodiscard]] kit::InputAt behind(kit::RouterNumber at, unsigned output) const noexcept {
    if (output >= saved) return {at, saved};
    return {ports_[at].router[output], ports_[at].port[output]};
  }
  [[nodiscard]] kit::LiveChannel& channel_behind(kit::RouterNumber at, unsigned output) const noexcept {
    const kit::InputAt its = behind(at, output);
    return router_at(its.router).inputs[its.input];
  }
  [[nodiscard]] kit::RouterNumber feeder(kit::RouterNumber at, unsigned input) const noexcept {
    if (input >= saved) return at;
    const Tree::Router& ports = ports_[at];
    const bool is_nodes = ports.is_lowest() && input < first_parent;
    return is_nodes || !ports.has(input) ? kit::nowhere : ports.router[input];
  }
  [[nodiscard]] NodeNumber injector(kit::RouterNumber at, unsigned input) const noexcept {
    const Tree::Router& ports = ports_[at];
    return ports.is_lowest() && input < first_parent && ports.has(input) ? ports.first + input : kit::nowhere;
  }
  template <class See>
  [[nodiscard]] kit::LiveChannel::First first(kit::RouterNumber at, unsigned input, See see) const {
    return numbered(at, input, see(router_at(at).inputs[input].left), see);
  }
  template <class See>
  [[nodiscard]] kit::LiveChannel::First numbered(kit::RouterNumber at, unsigned input, kit::Word its_number,
                                                 See see) const {
    if (input != saved) return router_at(at).inputs[input].at(its_number, see);
    if (!ports_[at].is_lowest()) return {};
    const kit::Word word = see(cell(at, its_number));
    return {its_number, kit::LiveChannel::packet_of(word),
            kit::LiveChannel::lap_of(word) == lap_of_cell(its_number)};
  }
  template <class Carrier>
  [[nodiscard]] bool has_room(const Carrier& carrier, kit::RouterNumber at, unsigned output) const {
    const kit::LiveChannel& channel = channel_behind(at, output);
    if (output >= first_parent && output < saved)
      return kit::LinkEntry(carrier.see(router_at(at).climbed))
          .is_free(output - first_parent, carrier.see(channel.left));
    return channel.has_room(kit::Entry{carrier.see(channel.entries)}, carrier.see(), cells_of(output));
  }
  [[nodiscard]] Arrival arrival(kit::RouterNumber at, const End& end, unsigned /*input*/) const noexcept {
    const LiveMessage message = LiveMessage::of(end.packet);
    return {message.destination, message.source, message.counted(at % Tree::links)};
  }
  [[nodiscard]] static constexpr unsigned flits_of(std::uint32_t /*packet*/) noexcept { return 1; }

  template <class Carrier>
  [[nodiscard]] kit::LiveEnds<End> ends(const Carrier& carrier, kit::RouterNumber at, unsigned input,
                                        const kit::LiveChannel::First& first, unsigned way) const {
    kit::LiveEnds<End> ends({this, at, first.packet, nullptr, kit::request(0), 0, nullptr, false});
    End& end = *ends.begin();
    aim(end, input, first);
    if (way != 0) end.output = way - 1;
    if (end.entries == nullptr || (end.is_node() && input != saved)) return ends;
    const bool frozen = carrier.see(*frozen_) != 0;
    end.waits = frozen && input == saved;
    if (!end.is_node()) {
      LiveMessage message = LiveMessage::of(first.packet);
      message.falls = (message.falls || frozen) && end.output != saved;
      end.packet = message.bits();
    }
    return ends;
  }
  /// Inputs have outputs in turns: each decision begins with the next input, and lets one message into an output.
  template <class Carrier>
  void decide(const Carrier& carrier, kit::RouterNumber at, kit::Requests occupied,
              kit::LiveDecision<channels>& now) const {
    kit::Tally<std::uint8_t>& turn = router_at(at).decisions.first;
    const unsigned begin = turn % channels;
    turn = static_cast<std::uint8_t>(begin + 1);
    kit::Requests taken = 0;
    kit::for_each_from(begin, occupied,
                       [&](unsigned input) { decide_about(carrier, at, input, taken, now); });
  }

 private:
  [[nodiscard]] bool holds_any(const kit::InputAt& its) const noexcept {
    return first(its.router, its.input, kit::Look()).is_there;
  }
  /// By where it is, and what it is: the same to all. One that was not written by this network, but scribbled by another, ends where it is.
  void aim(End& end, unsigned input, const kit::LiveChannel::First& first) const noexcept {
    const Tree::Router& ports = ports_[end.at];
    const LiveMessage message = LiveMessage::of(first.packet);
    if (message.destination >= count_ || message.source >= count_) return;
    if (message.falls) {
      if (ports.down == 0) return;
      end.output = ports.is_lowest() ? saved : kit::one_of(ports.down, random_of(end.at, input, first));
    } else if (ports.has_below(message.destination)) {
      end.output = ports.child_above(message.destination);
      if (ports.is_lowest()) {
        end.entries =
            &nodes_.arrivals(message.destination, message.source, message.counted(end.at % Tree::links));
        return;
      }
    } else {
      if (ports.up == 0) return;
      end.ways = ports.up;
      end.output = kit::one_of(ports.up, random_of(end.at, input, first));
      end.entries = &router_at(end.at).climbed;
      return;
    }
    end.ways = kit::request(end.output);
    end.channel = &channel_behind(end.at, end.output);
    end.entries = &end.channel->entries;
  }
  [[nodiscard]] static constexpr std::uint32_t random_of(kit::RouterNumber at, unsigned input,
                                                         const kit::LiveChannel::First& first) noexcept {
    return static_cast<std::uint32_t>(kit::mixed(kit::mixed(first.number, at << 4 | input), first.packet) >>
                                      32);
  }

  template <class Carrier>
  void decide_about(const Carrier& carrier, kit::RouterNumber at, unsigned input, kit::Requests& taken,
                    kit::LiveDecision<channels>& now) const {
    kit::LiveChannel::First& first = now.firsts[input];
    first = this->first(at, input, carrier.see());
    if (!first.is_there) return;
    now.found |= kit::request(input);
    now.way[input] = 0;
    End end = ends(carrier, at, input, first, 0).first();
    const bool is_at_end = !end.waits && end.is_node();
    const kit::Word last = is_at_end ? 0 : carrier.see(*end.entries);
    if (is_at_end || end.names(last, input, first.number)) {
      now.picked |= kit::request(input);
      return;
    }
    const kit::Requests outputs = end.outputs();
    end.ways &= ~taken;
    const kit::Word next = end.next(last, input, first.number, carrier.see());
    if (next == 0) {
      router_at(at).inputs[input].refused.add(1);
      now.blocked |= outputs;
      return;
    }
    end.let_in(next);
    taken |= kit::request(end.output);
    now.picked |= kit::request(input);
    now.way[input] = static_cast<std::uint8_t>(end.output + 1);
  }

  const NodeNumber count_;
  const std::vector<Tree::Router> ports_;
  std::atomic<kit::Word>* const frozen_;  // until when; 0: it is not
  std::atomic<kit::Word>* const cells_;   // of memories
  kit::Tally<std::uint32_t> turn_{};      // among links
  Nodes& nodes_;
};

inline std::atomic<kit::Word>& LiveEnd::place(kit::Word number) const noexcept {
  return output == saved ? tree->cell(at, number) : channel->place_of(number);
}
inline std::uint32_t LiveEnd::lap(kit::Word number) const noexcept {
  return output == saved ? LiveTree::lap_of_cell(number) : kit::LiveChannel::lap_of_number(number);
}
template <class See>
kit::Word LiveEnd::next(kit::Word last, unsigned input, kit::Word number, See see) const {
  if (waits || ways == 0) return 0;
  if (!climbs()) {
    if (channel != nullptr && !channel->has_room(kit::Entry{last}, see, LiveTree::cells_of(output))) return 0;
    return kit::Entry{last}.with(input, number).word;
  }
  const kit::LinkEntry seen(last);
  for (unsigned tried = 0; tried < Tree::children; ++tried) {
    const unsigned parent = (output + tried) % Tree::children;
    if ((ways >> (first_parent + parent) & 1) == 0) continue;
    if (seen.is_free(parent, see(tree->channel_behind(at, first_parent + parent).left)))
      return seen.with(input, number, parent).word;
  }
  return 0;
}
inline void LiveEnd::let_in(kit::Word entry) noexcept {
  if (!climbs()) return;
  output = first_parent + kit::LinkEntry(entry).channel();
  channel = &tree->channel_behind(at, output);
}

}  // namespace am::cm5

namespace am::kit {
extern template class LiveNetwork<cm5::LiveTree, cm5::LiveRouter>;
}
