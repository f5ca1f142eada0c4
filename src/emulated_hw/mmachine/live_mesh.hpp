// The network of the M-Machine live: its routers in memory that the processes of a job share (kit/live_network.hpp).
//
// As under the clock (router.hpp) a message goes along x, then along y, and in each router takes a virtual channel of the link before it:
// by the two tables of 3.3.3 among those that are free, which is one compare-and-swap for the whole link (kit/live_link.hpp). A channel
// holds one message. At its end a message of P1 is counted; one of P0 is, if its node has room, and else turns and is counted where it
// came from, as sent back: from where it is to be sent again. That is why all that is in the network can always go on: P0 waits for P1,
// at its end, and P1 for P1 alone: it has channel 1 to itself, and never waits for a channel that it could have only after a P0.
//
// Here a message moves as a whole: 3 to 15 flits at once, where the machine's channels have 6 and its turn buffers 2; so turn buffers have
// nothing to do, and there are none. What is injected waits in a queue of 16 words of which a SEND wants 13 (4.2): one message.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.2, 3.3.3, 4.2, 4.4.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "emulated_hw/kit/dimension_order.hpp"
#include "emulated_hw/kit/live_grid.hpp"
#include "emulated_hw/kit/live_link.hpp"
#include "emulated_hw/kit/live_move_carrier.hpp"
#include "emulated_hw/mmachine/live_message.hpp"

namespace am::mmachine {

inline constexpr unsigned live_ports = 5;
inline constexpr unsigned live_channels = live_ports * most_channels;
inline constexpr unsigned most_extent_live = 32;
static_assert(live_channels <= kit::LinkEntry::most_inputs && most_channels == kit::LinkEntry::most_channels);

/// The interface's channels into the network: of its processor, by priority, and for what it sends back itself.
constexpr unsigned input_of(Priority priority) noexcept { return static_cast<unsigned>(index(priority)); }
inline constexpr unsigned going_back = 3;

/// What is counted at a node of each other one: its messages, by priority and order; and this node's own that the other has sent back.
enum class Counted : std::uint8_t { p0, p1, p0_unordered, p1_unordered, back, back_unordered };
inline constexpr unsigned kinds_of_counted = 6;

struct LiveOutput {
  std::array<kit::RoundRobinOf<kit::Tally<std::uint8_t>>, message_kinds> turn;  ///< among inputs
  EscapeOf<kit::Tally<std::uint8_t>> escape;
};
struct LiveRouter : kit::LiveInputs<live_channels, std::array<LiveOutput, live_ports>> {
  // Of the node, which counts them itself.
  alignas(64) kit::Tally<std::uint64_t> sent_back;  ///< its messages that came back
  kit::Tally<std::uint64_t> gtlb_misses;
};

/// Where a message goes: over a link, by one of its channels; or to a node. How `entries` is read: that of a link otherwise than that of
/// a node. `output` is the link's first, and `channel` none, until it has been let in.
struct LiveEnd : kit::LiveEnd {
  static constexpr unsigned most = 1;  ///< of one message

  kit::Choice choice{};              ///< of the link's channels
  kit::LiveChannel* link = nullptr;  ///< these; none: the node

  [[nodiscard]] bool names(kit::Word last, unsigned input, kit::Word number) const noexcept {
    return link != nullptr ? kit::LinkEntry(last).names(input, number)
                           : kit::LiveEnd::names(last, input, number);
  }
  [[nodiscard]] unsigned input(kit::Word last) const noexcept {
    return link != nullptr ? kit::LinkEntry(last).input() : kit::LiveEnd::input(last);
  }
  template <class See>
  [[nodiscard]] kit::Word next(kit::Word last, unsigned input, kit::Word number, See see) const {
    if (link == nullptr) return kit::LiveEnd::next(last, input, number, see);
    const kit::LinkEntry seen(last);
    kit::Word next = 0;
    choice.find([&](unsigned its) {
      if (seen.is_free(its, see(link[its].left))) next = seen.with(input, number, its).word;
      return next != 0;
    });
    return next;
  }
  void let_in(kit::Word entry) noexcept {
    if (link == nullptr) return;
    const unsigned its = kit::LinkEntry(entry).channel();
    output += its;
    channel = &link[its];
  }
  [[nodiscard]] static kit::Word number(kit::Word entry) noexcept {
    const kit::LinkEntry seen(entry);
    return (seen.count(seen.channel()) - 1) % kit::LinkEntry::counts;
  }
  [[nodiscard]] kit::Requests outputs() const noexcept {
    if (link == nullptr) return kit::LiveEnd::outputs();
    kit::Requests all = 0;
    choice.find([&](unsigned its) {
      all |= kit::request(output + its);
      return false;
    });
    return all;
  }
};

/// Rows x columns nodes, numbered along rows; each up to 32. Throws std::invalid_argument.
[[nodiscard]] inline kit::Grid live_grid(unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0 || rows > most_extent_live || columns > most_extent_live)
    throw std::invalid_argument("mmachine: a mesh of " + std::to_string(rows) + " rows and " +
                                std::to_string(columns) + " columns: 1x1 to 32x32");
  return {{.extent = columns}, {.extent = rows}};
}

class LiveMesh final : public kit::LiveGrid<most_channels, going_back>,
                       public kit::LiveNetwork<LiveMesh, LiveRouter> {
 public:
  /// For tests too, which stop and end carriers.
  template <class Pause = kit::NoPause>
  using Carrier = kit::LiveMoveCarrier<LiveMesh, Pause>;
  class Nodes : public kit::LiveNodes<Counted> {
   public:
    /// Whether it has room for one more message of P0. (Several who ask at once may all be told that it has, for the last.)
    [[nodiscard]] virtual bool takes(NodeNumber at) noexcept = 0;
    /// It has got one. Told at most once.
    virtual void took(NodeNumber at) noexcept = 0;
  };
  static constexpr std::uint32_t number = 2;  ///< of this machine, in shared memory

  /// Of the nodes of live_grid(). Throws as that. `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveMesh(unsigned rows, unsigned columns, std::byte* memory, Nodes& nodes)
      : LiveGrid(live_grid(rows, columns)),
        LiveNetwork(grid().nodes(), LiveGrid::shape(), memory),
        nodes_(nodes) {}

  // By the node itself, one thread at a time.

  /// Puts a message into the network: false, and nothing has happened, where there is no room. carry(node) is to follow.
  [[nodiscard]] bool inject(NodeNumber node, const LiveMessage& message) noexcept {
    return put(node, input_of(message.priority()), message.bits(), message.flits, 1);
  }
  /// Whether inject() would find room.
  [[nodiscard]] bool accepts(NodeNumber node, Priority priority) const noexcept {
    return has_room_at(node, input_of(priority), 1);
  }
  /// Asks for Nodes::has_room when there is. True: there is by now.
  [[nodiscard]] bool ask_for_room(NodeNumber node, Priority priority) noexcept {
    return ask_for_room_at(node, input_of(priority), 1);
  }
  void count_sent_back(NodeNumber node, std::uint64_t messages) noexcept {
    router_at(node).sent_back.add(messages);
  }
  void count_gtlb_misses(NodeNumber node, std::uint64_t misses) noexcept {
    router_at(node).gtlb_misses.add(misses);
  }

  // By anybody.

  /// Moves what can move, beginning with what this node has injected: until nothing can, or for many steps.
  void carry(NodeNumber node, Priority priority) noexcept { carry_from(node, input_of(priority)); }

 private:
  template <class, class, class>
  friend class kit::LiveCarrier;
  template <class, class>
  friend class kit::LiveMoveCarrier;
  template <class, class>
  friend class kit::LiveNetwork;

  static constexpr unsigned vcs = most_channels;

  // What a carrier asks (kit/live_carrier.hpp, kit/live_move_carrier.hpp). A way is a channel and 1.

  static constexpr unsigned channels = live_channels;
  static constexpr std::array injected = {input_of(Priority::p0), input_of(Priority::p1)};
  using End = LiveEnd;
  using Arrival = kit::LiveArrival<Counted>;

  [[nodiscard]] Nodes& nodes() const noexcept { return nodes_; }
  /// The channels of a link, and in the first the word that names what was let in there last.
  [[nodiscard]] kit::LiveChannel* link_behind(NodeNumber at, unsigned port) const noexcept {
    const kit::InputAt its = behind(at, port * vcs);
    return &router_at(its.router).inputs[its.input];
  }
  template <class Carrier>
  [[nodiscard]] bool has_room(const Carrier& carrier, NodeNumber at, unsigned output) const {
    kit::LiveChannel* const link =
        output < vcs ? &router_at(at).inputs[going_back] : link_behind(at, output / vcs);
    const kit::LinkEntry last(carrier.see(link->entries));
    const unsigned channel = output < vcs ? 0 : output % vcs;
    return last.is_free(channel, carrier.see(link[channel].left));
  }
  [[nodiscard]] Arrival arrival(NodeNumber at, const End& end, unsigned /*input*/) const noexcept {
    const LiveMessage message = LiveMessage::of(end.packet);
    return {at, message.source, counted_as(message)};
  }
  void counted(NodeNumber at, const End& end) const noexcept {
    if (LiveMessage::of(end.packet).priority() == Priority::p0) nodes_.took(at);
  }
  [[nodiscard]] static constexpr unsigned flits_of(std::uint32_t packet) noexcept {
    return LiveMessage::of(packet).flits;
  }
  void went_alone(NodeNumber at, unsigned /*input*/, const kit::LiveEnds<End>& ends) const noexcept {
    const End& end = ends.first();
    if (end.link != nullptr && LiveMessage::of(end.packet).kind == MessageKind::p1_unordered)
      router_at(at).decisions[end.output / vcs].escape.goes_alone();
  }

  /// It was written by this network, and not scribbled by another: then it is at its end here, and does not count.
  [[nodiscard]] bool is_whole(const LiveMessage& message) const noexcept {
    return message.destination < grid().nodes() && message.source < grid().nodes() &&
           !(message.is_back && message.priority() == Priority::p0);
  }
  /// By which it leaves; 0: it is there.
  [[nodiscard]] unsigned port_of(NodeNumber at, const LiveMessage& message) const noexcept {
    return is_whole(message) ? kit::dimension_order(grid(), at, message.destination).port : 0;
  }
  static constexpr Counted counted_as(const LiveMessage& message) noexcept {
    if (message.is_back) return message.was_ordered ? Counted::back : Counted::back_unordered;
    if (message.priority() == Priority::p0) return message.is_ordered() ? Counted::p0 : Counted::p0_unordered;
    return message.is_ordered() ? Counted::p1 : Counted::p1_unordered;
  }
  /// Whether its node is to decide about it.
  static constexpr bool is_asked_about(const LiveMessage& message) noexcept {
    return message.priority() == Priority::p0 && message.counts;
  }
  /// In the order of 3.3.3, where nobody else asks.
  static constexpr kit::Choice choice_of(MessageKind kind) noexcept {
    switch (kind) {
      case MessageKind::p0_ordered:
        return {0};
      case MessageKind::p1_ordered:
        return {1};
      case MessageKind::p0_unordered:
        return {2, 3, 0};
      default:
        return {3, 2, 1, 0};
    }
  }

  template <class Carrier>
  [[nodiscard]] kit::LiveEnds<End> ends(const Carrier& carrier, NodeNumber at, unsigned input,
                                        kit::LiveChannel::First& first, unsigned way) const {
    const LiveMessage message = LiveMessage::of(first.packet);
    const unsigned port = port_of(at, message);
    if (port == 0) return kit::LiveEnds<End>(end_at(carrier, at, input, message, first));
    kit::LiveChannel* const link = link_behind(at, port);
    const kit::Choice choice = way == 0 ? choice_of(message.kind) : kit::Choice{way - 1};
    return kit::LiveEnds<End>({{port * vcs, &link->entries, nullptr, first.packet}, choice, link});
  }
  /// Of one that is there.
  template <class Carrier>
  [[nodiscard]] End end_at(const Carrier& carrier, NodeNumber at, unsigned input, LiveMessage message,
                           kit::LiveChannel::First& first) const {
    if (!message.counts || !is_whole(message)) return node_end(first.packet, nullptr);
    if (is_asked_about(message)) {
      if (message.fate == Fate::open) message = decided(carrier, at, input, message, first);
      if (!is_whole(message)) return node_end(first.packet, nullptr);
      if (message.fate == Fate::sent_back) {
        kit::LiveChannel* const link = &router_at(at).inputs[going_back];
        return {{going_back, &link->entries, nullptr, message.sent_back().bits()}, {0}, link};
      }
    }
    return node_end(first.packet, &nodes_.arrivals(at, message.source, counted_as(message)));
  }
  [[nodiscard]] static End node_end(std::uint32_t packet, std::atomic<kit::Word>* count) noexcept {
    return {{0, count, nullptr, packet}};
  }
  /// With its fate, which is written where it lies: by whoever comes first.
  template <class Carrier>
  [[nodiscard]] LiveMessage decided(const Carrier& carrier, NodeNumber at, unsigned input,
                                    LiveMessage message, kit::LiveChannel::First& first) const {
    std::atomic<kit::Word>& place =
        router_at(at).inputs[input].place[first.number % kit::LiveChannel::places];
    const std::uint32_t lap = kit::LiveChannel::lap_of_number(first.number);
    carrier.pause();
    message.fate = nodes_.takes(at) ? Fate::taken : Fate::sent_back;
    if (!carrier.change(place, kit::LiveChannel::filled(first.packet, lap),
                        kit::LiveChannel::filled(message.bits(), lap))) {
      // Another has decided. (Or it has gone: then what this says does not matter.)
      message = LiveMessage::of(kit::LiveChannel::packet_of(carrier.see(place)));
    }
    first.packet = message.bits();
    return message;
  }

  template <class Carrier>
  void decide(const Carrier& carrier, NodeNumber at, kit::Requests occupied,
              kit::LiveDecision<channels>& now) const {
    std::array<std::array<kit::Requests, message_kinds>, live_ports> asking{};
    kit::Ports asked = 0;
    kit::for_each(occupied, [&](unsigned input) {
      kit::LiveChannel::First& first = now.firsts[input];
      first = router_at(at).inputs[input].first(carrier.see());
      if (!first.is_there) return;
      now.found |= kit::request(input);
      const LiveMessage message = LiveMessage::of(first.packet);
      const unsigned port = port_of(at, message);
      if (port == 0) return decide_about(carrier, at, input, message, now);
      asking[port][index(message.kind)] |= kit::request(input);
      asked |= kit::port_bit(port);
    });
    kit::for_each(asked, [&](unsigned port) { allocate(carrier, at, port, asking[port], now); });
  }
  /// One that is there goes, unless there is no room for it to go back.
  template <class Carrier>
  void decide_about(const Carrier& carrier, NodeNumber at, unsigned input, const LiveMessage& message,
                    kit::LiveDecision<channels>& now) const {
    kit::LiveChannel::First& first = now.firsts[input];
    const End end = end_at(carrier, at, input, message, first);
    if (end.link != nullptr) {
      const kit::LinkEntry last(carrier.see(*end.entries));
      if (!last.names(input, first.number) && !last.is_free(0, carrier.see(end.link->left))) {
        router_at(at).inputs[input].refused.add(1);
        now.blocked |= end.outputs();
        return;
      }
    }
    now.picked |= kit::request(input);
    now.way[input] = 0;
  }
  /// A link's channels among those that ask for one, by kind.
  template <class Carrier>
  void allocate(const Carrier& carrier, NodeNumber at, unsigned port,
                std::array<kit::Requests, message_kinds>& asking, kit::LiveDecision<channels>& now) const {
    LiveRouter& router = router_at(at);
    const kit::LiveChannel* const link = link_behind(at, port);
    const kit::LinkEntry last(carrier.see(link->entries));
    ChannelRequests requests;
    for (unsigned channel = 0; channel < vcs; ++channel)
      requests.free[channel] = last.is_free(channel, carrier.see(link[channel].left));
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
      kit::for_each(asking[kind], [&](unsigned input) {  // one that is half on its way
        if (!last.names(input, now.firsts[input].number)) return;
        asking[kind] &= ~kit::request(input);
        now.picked |= kit::request(input);
        now.way[input] = 0;
      });
      requests.asks[kind] = asking[kind] != 0;
    }
    LiveOutput& output = router.decisions[port];
    requests.escape = output.escape.is_due();
    const ChannelAssignment given = assign_channels(requests);
    output.escape.saw(requests, given);
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
      if (!requests.asks[kind]) continue;
      if (given[kind]) {
        const unsigned input = output.turn[kind].pick(asking[kind]);
        output.turn[kind].had_its_turn(input);
        now.picked |= kit::request(input);
        now.way[input] = static_cast<std::uint8_t>(1 + *given[kind]);
        continue;
      }
      kit::for_each(asking[kind], [&](unsigned input) { router.inputs[input].refused.add(1); });
      choice_of(static_cast<MessageKind>(kind)).find([&](unsigned channel) {
        now.blocked |= kit::request(port * vcs + channel);
        return false;
      });
    }
  }

  Nodes& nodes_;
};

}  // namespace am::mmachine

namespace am::kit {
extern template class LiveNetwork<mmachine::LiveMesh, mmachine::LiveRouter>;
}
