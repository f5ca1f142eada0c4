// The network of the CNS-1 live: T1 routers (router.hpp) in memory that the processes of a job share (kit/live_network.hpp; T1 report,
// 3.2, 3.3, 3.5, 3.9).
//
// At its end a message is counted; but a fetch, which the interface handles itself, turns there into its answer, as if that were one
// more channel on its way. Answers have high priority and come to an end that always takes them, so low messages may wait for them
// (3.5). So a node that takes nothing holds up nobody but those who send to it: their windows are theirs to keep. No message waits for
// another in a circle: mesh.hpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulated_hw/kit/live_grid.hpp"
#include "emulated_hw/kit/live_move_carrier.hpp"
#include "emulated_hw/t1/router.hpp"

namespace am::t1 {

/// Who handles a message at its end (3.9).
enum class For : std::uint8_t {
  processor,
  store,   ///< the interface: its words go to memory. Low priority
  fetch,   ///< the interface, which sends what lies in memory back, as an `answer`. Low priority
  answer,  ///< the interface of the node that has fetched. High priority
};

/// What travels.
struct Carried {
  NodeNumber destination = 0;
  NodeNumber source = 0;
  unsigned flits = 1;
  bool counts = true;  ///< at its end; else only what is sent behind it does
  bool multicast = false;
  For who = For::processor;
  unsigned answer_flits = 0;  ///< of a fetch

  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return destination | source << 10 | flits << 20 | std::uint32_t{counts} << 24 |
           std::uint32_t{multicast} << 25 | static_cast<std::uint32_t>(who) << 26 | answer_flits << 28;
  }
  static constexpr Carried of(std::uint32_t bits) noexcept {
    return {bits & 1023,
            bits >> 10 & 1023,
            bits >> 20 & 15,
            (bits >> 24 & 1) != 0,
            (bits >> 25 & 1) != 0,
            static_cast<For>(bits >> 26 & 3),
            bits >> 28};
  }
  /// What the interface of its destination sends back.
  [[nodiscard]] constexpr Carried answered() const noexcept {
    return {.destination = source,
            .source = destination,
            .flits = answer_flits,
            .counts = counts,
            .who = For::answer};
  }
};
static_assert(most_nodes <= 1024 && most_nodes <= kit::most_live_nodes);
/// The interface's own channel into the network, where fetches wait for their answers to go: the processor's are those of class 0.
inline constexpr unsigned answers = channel(0, Priority::high, 1);

/// What is counted at a node of each other one: its messages; and, of what its interface does without its processor, stores of the
/// other's, and answers to what was fetched from the other.
enum class Counted : std::uint8_t { low, high, stored, answered };
inline constexpr unsigned kinds_of_counted = 4;
constexpr Counted counted(Priority priority) noexcept { return static_cast<Counted>(priority); }

static_assert(default_buffers == kit::LiveChannel::places && channels <= kit::Entry::most_inputs);

using LiveRouter = kit::LiveInputs<channels, Turns<kit::Tally<std::uint8_t>>>;

class LiveMesh final : public kit::LiveGrid<vcs, answers>, public kit::LiveNetwork<LiveMesh, LiveRouter> {
 public:
  /// For tests too, which stop and end carriers.
  template <class Pause = kit::NoPause>
  using Carrier = kit::LiveMoveCarrier<LiveMesh, Pause>;
  using Nodes = kit::LiveNodes<Counted>;
  static constexpr std::uint32_t number = 1;  ///< of this machine, in shared memory

  /// Its channels hold default_buffers messages. Throws std::invalid_argument. `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveMesh(const Shape& shape, std::byte* memory, Nodes& nodes)
      : LiveGrid(grid_of(shape)),
        LiveNetwork(grid().nodes(), LiveGrid::shape(), memory),
        patience_(shape.patience),
        nodes_(nodes) {}

  // By the node itself, one thread at a time.

  /// Puts a message into the network: false, and nothing has happened, where there is no room. carry(node) is to follow.
  [[nodiscard]] bool inject(NodeNumber node, Priority priority, const Carried& message) noexcept {
    return put(node, channel(0, priority, 0), message.bits(), message.flits, default_buffers);
  }
  /// Whether inject() would find room.
  [[nodiscard]] bool accepts(NodeNumber node, Priority priority) const noexcept {
    return has_room_at(node, channel(0, priority, 0), default_buffers);
  }
  /// Asks for Nodes::has_room when there is. True: there is by now.
  [[nodiscard]] bool ask_for_room(NodeNumber node, Priority priority) noexcept {
    return ask_for_room_at(node, channel(0, priority, 0), default_buffers);
  }

  // By anybody.

  /// Moves what can move, beginning with what this node has injected: until nothing can, or for many steps.
  void carry(NodeNumber node, Priority priority) noexcept { carry_from(node, channel(0, priority, 0)); }

 private:
  template <class, class, class>
  friend class kit::LiveCarrier;
  template <class, class>
  friend class kit::LiveMoveCarrier;
  template <class, class>
  friend class kit::LiveNetwork;

  // What a carrier asks (kit/live_carrier.hpp, kit/live_move_carrier.hpp).

  static constexpr unsigned channels = t1::channels;
  static constexpr std::array injected = {channel(0, Priority::low, 0), channel(0, Priority::high, 0)};
  using End = kit::LiveEnd;
  using Arrival = kit::LiveArrival<Counted>;

  [[nodiscard]] Nodes& nodes() const noexcept { return nodes_; }
  [[nodiscard]] kit::LiveChannel& channel_behind(NodeNumber at, unsigned output) const noexcept {
    const kit::InputAt its = behind(at, output);
    return router_at(its.router).inputs[its.input];
  }
  template <class Carrier>
  [[nodiscard]] bool has_room(const Carrier& carrier, NodeNumber at, unsigned output) const {
    const kit::LiveChannel& channel = channel_behind(at, output);
    return channel.has_room(kit::Entry{carrier.see(channel.entries)}, carrier.see());
  }
  [[nodiscard]] Arrival arrival(NodeNumber at, const End& end, unsigned input) const noexcept {
    const Carried message = Carried::of(end.packet);
    return {at, message.source, counted_as(message, input)};
  }
  void counted(NodeNumber /*at*/, const End& /*end*/) const noexcept {}
  [[nodiscard]] static constexpr unsigned flits_of(std::uint32_t packet) noexcept {
    return Carried::of(packet).flits;
  }
  void went_alone(NodeNumber at, unsigned input, const kit::LiveEnds<End>& /*ends*/) const noexcept {
    router_at(at).decisions.goes_alone(input);
  }

  /// One that was not written by this, but scribbled by another, is at its end here, and does not count.
  [[nodiscard]] Carried carried(NodeNumber at, std::uint32_t packet) const noexcept {
    const Carried message = Carried::of(packet);
    const bool is_one = message.destination < grid().nodes() && message.source < grid().nodes() &&
                        !(message.multicast && message.who != For::processor);
    return is_one ? message : Carried{.destination = at, .source = at, .counts = false};
  }
  static constexpr Header header_of(const Carried& message) noexcept {
    return {message.destination, message.multicast};
  }
  static constexpr Counted counted_as(const Carried& message, unsigned input) noexcept {
    switch (message.who) {
      case For::store:
        return Counted::stored;
      case For::answer:
        return Counted::answered;
      default:
        return t1::counted(priority_of(input));
    }
  }
  /// Whether it ends here, in the interface, which answers.
  static constexpr bool turns(unsigned output, const Carried& message) noexcept {
    return output < vcs && message.who == For::fetch;
  }
  [[nodiscard]] End end(NodeNumber at, unsigned output, unsigned input, const Carried& message,
                        std::uint32_t packet) const {
    if (output >= vcs) {
      kit::LiveChannel& channel = channel_behind(at, output);
      return {output, &channel.entries, &channel, packet};
    }
    if (turns(output, message)) {
      kit::LiveChannel& channel = router_at(at).inputs[answers];
      return {answers, &channel.entries, &channel, message.answered().bits()};
    }
    if (!message.counts) return {output, nullptr, nullptr, packet};
    return {output, &nodes_.arrivals(at, message.source, counted_as(message, input)), nullptr, packet};
  }
  template <class Carrier>
  [[nodiscard]] kit::LiveEnds<End> ends(const Carrier& /*carrier*/, NodeNumber at, unsigned input,
                                        const kit::LiveChannel::First& first, unsigned /*way*/) const {
    const Carried message = carried(at, first.packet);
    const Way way = way_of(grid(), at, input, header_of(message));
    kit::LiveEnds<End> ends(end(at, way.output[0], input, message, first.packet));
    if (way.count == 2) ends.add(end(at, way.output[1], input, message, first.packet));
    return ends;
  }
  template <class Carrier>
  void decide(const Carrier& carrier, NodeNumber at, kit::Requests occupied,
              kit::LiveDecision<channels>& now) const {
    LiveRouter& router = router_at(at);
    const auto see = carrier.see();
    const auto first = [&](unsigned input) { return carried(at, now.firsts[input].packet); };
    t1::decide(
        grid(), at, occupied, ~kit::Ports{0}, ~kit::Ports{0}, router.decisions, patience_,
        [&](unsigned input) -> std::optional<Header> {
          now.firsts[input] = router.inputs[input].first(see);
          if (!now.firsts[input].is_there) return std::nullopt;
          now.found |= kit::request(input);
          return header_of(first(input));
        },
        [&](unsigned input, unsigned output) {
          if (output < vcs) {
            if (!turns(output, first(input))) return true;
            output = answers;
          }
          const kit::LiveChannel& channel = channel_behind(at, output);
          const kit::Entry last{see(channel.entries)};
          return last.names(input, now.firsts[input].number) || channel.has_room(last, see);
        },
        [&](unsigned input, unsigned output) {
          router.inputs[input].refused.add(1);
          now.blocked |= kit::request(turns(output, first(input)) ? answers : output);
        },
        [&](unsigned input, const Way&) {
          now.picked |= kit::request(input);
          now.way[input] = 0;
        });
  }

  const unsigned patience_;
  Nodes& nodes_;
};

}  // namespace am::t1

namespace am::kit {
extern template class LiveNetwork<t1::LiveMesh, t1::LiveRouter>;
}
