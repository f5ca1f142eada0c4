// The router of one M-Machine node (4.4, Figures 4-3 and 4-8): two dimension modules of two halves each, x first, then y.
//
//   network output --> turn buffers of x --> turn buffers of y --> extraction buffers --> network input
//        (inject)        |  virtual           |  virtual             one for each priority
//                        v  channels of x     v  channels of y
//                      link, both ways      link, both ways
//
// A half has four virtual channels of 6 flits for what comes from the router before, and four turn buffers of 2 for what turns into this
// dimension: every message passes one of each dimension. When its header is the first of its buffer, a message is given a buffer of the next
// half or router (allocate), and from then on its flits go there, one a cycle on each path, as room there is known of (forward); both in
// one cycle, so what goes straight on leaves in the cycle after it came. Paths are shared in two stages, as in 4.4.1: among the groups of
// buffers, and in a group among its four; round robin.
//
// Room behind a link is known by counting: one less for each flit sent, one more for each FVC that comes back. An FVC names one channel, and
// goes with a flit's time; so of several that become free at once some wait. A buffer is given to another message when the tail has been sent
// there and it has become empty again.
//
// Within a cycle a router reads only flits that were there when it began; what it sends is seen in later ones. Of its own turn and extraction
// buffers it knows the room at once: what leaves one makes place for what comes in the same cycle.
//
// Assumed: that; each buffer gives up to one flit a cycle, whatever the others of its group do; extraction buffers hold 2 flits, as turn buffers.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.3, 4.1, 4.4.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/fifo.hpp"
#include "emulated_hw/kit/waits.hpp"
#include "emulated_hw/mmachine/message.hpp"

namespace am::mmachine {

inline constexpr unsigned channel_flits = 6;
inline constexpr unsigned turn_flits = 2;

/// Which way a message goes; and, as sides of the chip, where its pins are. Numbered so that the opposite one differs in the last bit.
enum class Direction : std::uint8_t { x_up, x_down, y_up, y_down };
inline constexpr unsigned directions = 4;
constexpr unsigned index(Direction direction) noexcept { return static_cast<unsigned>(direction); }
constexpr Direction opposite(Direction direction) noexcept {
  return static_cast<Direction>(index(direction) ^ 1u);
}
constexpr unsigned dimension_of(Direction direction) noexcept { return index(direction) / 2; }

/// The places in kit::Waits of a node's network output and input units.
[[nodiscard]] inline std::string place_of_output(NodePlace node, Priority priority) {
  return to_text(node) + " network output P" + std::to_string(index(priority));
}
[[nodiscard]] inline std::string place_of_input(NodePlace node, Priority priority) {
  return to_text(node) + " network input P" + std::to_string(index(priority));
}

class Router {
 public:
  /// With `channels` virtual channels: 4, or the prototype's 2.
  Router(NodePlace here, unsigned channels) noexcept : here_(here), channels_(channels) {
    for (auto& of_link : vacant_) of_link.fill(channel_flits);
  }

  /// Swaps the sides of a dimension (4.4.1), before anything is sent.
  void flip(unsigned dimension, bool yes) noexcept { flipped_[dimension] = yes; }

  // -- what comes before a step

  void receive(Direction side, unsigned channel, const Flit& flit) noexcept {
    put(source_of(index(opposite(swapped(side))), channel), flit);
  }
  void vacancy(Direction side, unsigned channel) noexcept { ++vacant_[index(swapped(side))][channel]; }

  /// A cycle, connected to `ports`:
  ///   const Flit* injected(priority)    the next flit of that network output unit, its parity not computed; none: nothing to send now. Asked
  ///                                     again, the answer is the same until it is taken
  ///   std::uint32_t taken(priority)     it has gone; what a trace calls its message
  ///   send(side, channel, flit)         over the link of that side, into that channel of the router there
  ///   freed(side, channel)              the channel of the router at that side, which sent a flit, has room for one more
  ///   bool accepts(priority), extracted(priority, flit)   the network input unit
  void step(auto& ports) {
    if (extracting_ != 0) extract(ports);
    look_at_injection(ports);
    for (const unsigned sink : last_stage_first) {
      if (sinks_[sink].from == 0) continue;
      allocate(sink);
      forward(sink, ports);
    }
    if (returning_ != 0) return_vacancies(ports);
  }
  /// There is nothing in it, and nothing to tell.
  [[nodiscard]] bool is_idle() const noexcept { return filled_ == 0 && extracting_ == 0 && returning_ == 0; }

  /// Adds each message that has no buffer to go to, or no room there. `behind` names the place that a channel of a side's link leads to.
  using Behind = std::function<std::string(Direction side, unsigned channel)>;
  void add_waits(kit::Waits& waits, const Behind& behind) const {
    kit::for_each(waiting_ | active_, [&](unsigned source) {
      const First& first = first_[source];
      const bool has_buffer = (active_ & kit::request(source)) != 0;
      if (has_buffer && room(first.sink, first.channel) != 0) return;
      std::vector<std::string> places;
      if (has_buffer) {
        places.push_back(place_of_sink(first.sink, first.channel, behind));
      } else if (first.sink == extraction) {
        places.push_back(
            place_of_sink(extraction, static_cast<unsigned>(index(first.header.turns.to)), behind));
      } else {
        for (unsigned channel = 0; channel < channels_; ++channel)
          places.push_back(place_of_sink(first.sink, channel, behind));
      }
      const unsigned group = source / most_channels;
      std::string place = group == injection
                              ? place_of_output(here_, static_cast<Priority>(source % most_channels))
                              : to_text(here_) + ' ' + name_of(group, source % most_channels);
      std::string line = place + ": message from " + to_text(first.header.sender) + " to " +
                         to_text(first.header.destination) +
                         (has_buffer ? " waits for room at " : " waits for a buffer at ") + places.front();
      if (places.size() > 1) line += ", or another channel";
      waits.add(std::move(place), std::move(line), std::move(places));
    });
  }
  /// The place of what comes by a channel of a side's link.
  [[nodiscard]] std::string place_of(Direction side, unsigned channel) const {
    return to_text(here_) + ' ' + name_of(index(opposite(swapped(side))), channel);
  }

 private:
  // Groups of buffers that messages come from: virtual channels and turn buffers by direction, and the network output units.
  static constexpr unsigned turn_groups = directions;
  static constexpr unsigned injection = 2 * directions;
  static constexpr unsigned groups = injection + 1;
  static constexpr unsigned sources = injection * most_channels + priorities;
  // Groups that they go to: links and turn buffers by direction, and the extraction buffers.
  static constexpr unsigned extraction = 2 * directions;
  static constexpr unsigned sinks = extraction + 1;
  // So nothing passes two in one cycle.
  static constexpr std::array<unsigned, sinks> last_stage_first = {8, 2, 3, 6, 7, 0, 1, 4, 5};

  static constexpr kit::Requests of_group(unsigned group) noexcept {
    return kit::Requests{(1u << most_channels) - 1} << group * most_channels;
  }
  static constexpr unsigned source_of(unsigned group, unsigned channel) noexcept {
    return group * most_channels + channel;
  }

  /// A message that is the first in its buffer.
  struct First {
    std::uint8_t sink = 0;
    std::uint8_t channel = 0;  // of the sink, once it is given
    MessageKind kind{};
    Header header{};
  };
  /// Two stages of round robin, for one path.
  class Turns2 {
   public:
    unsigned pick(kit::Requests asking) noexcept {
      kit::Requests among = 0;
      for (unsigned group = 0; group < groups; ++group) {
        if ((asking & of_group(group)) != 0) among |= kit::request(group);
      }
      const unsigned group = among_groups_.pick(among);
      among_groups_.had_its_turn(group);
      const unsigned channel = in_group_[group].pick((asking & of_group(group)) >> group * most_channels);
      in_group_[group].had_its_turn(channel);
      return source_of(group, channel);
    }

   private:
    kit::RoundRobin among_groups_{};
    std::array<kit::RoundRobin, groups> in_group_{};
  };
  struct Sink {
    kit::Requests from = 0;  // sources whose first message goes there
    std::uint8_t owned = 0;  // channels, as bits
    Escape escape{};
    std::array<Turns2, message_kinds> allocation{};  // of extraction: by priority
    Turns2 forwarding{};
  };

  static std::string name_of(unsigned group, unsigned channel) {
    constexpr std::array<const char*, directions> names = {"x up", "x down", "y up", "y down"};
    return std::string(names[group % directions]) + (group < directions ? " channel " : " turn buffer ") +
           std::to_string(channel);
  }
  [[nodiscard]] Direction swapped(Direction direction) const noexcept {
    return flipped_[dimension_of(direction)] ? opposite(direction) : direction;
  }
  void look_at_injection(auto& ports) {
    for (const Priority priority : {Priority::p0, Priority::p1}) {
      const unsigned source = source_of(injection, static_cast<unsigned>(index(priority)));
      const Flit* const next = ports.injected(priority);
      if (next == nullptr) {
        filled_ &= ~kit::request(source);
        continue;
      }
      filled_ |= kit::request(source);
      if (((waiting_ | active_) & kit::request(source)) != 0) continue;
      Header header = Header::of(next->word.bits);
      header.turns = {header.destination.x < here_.x, header.destination.y < here_.y, header.priority};
      begin(source, header);
    }
  }
  void put(unsigned source, const Flit& flit) noexcept {
    buffers_[source / most_channels][source % most_channels].push(flit);
    filled_ |= kit::request(source);
    if (((waiting_ | active_) & kit::request(source)) == 0) begin(source, Header::of(flit.word.bits));
  }
  void begin(unsigned source, const Header& header) noexcept {
    const unsigned sink = sink_of(source, header);
    first_[source] = {static_cast<std::uint8_t>(sink), 0, header.kind(), header};
    sinks_[sink].from |= kit::request(source);
    of_kind_[index(header.kind())] |= kit::request(source);
    waiting_ |= kit::request(source);
  }
  /// On in its dimension until the coordinate is that of the destination, then into the next one (4.4.1).
  [[nodiscard]] unsigned sink_of(unsigned source, const Header& header) const noexcept {
    const unsigned group = source / most_channels;
    const unsigned turn_x = turn_groups + index(header.turns.x_down ? Direction::x_down : Direction::x_up);
    const unsigned turn_y = turn_groups + index(header.turns.y_down ? Direction::y_down : Direction::y_up);
    if (group == injection) return turn_x;
    const unsigned direction = group % directions;
    if (dimension_of(static_cast<Direction>(direction)) == 0)
      return header.destination.x == here_.x ? turn_y : direction;
    return header.destination.y == here_.y ? extraction : direction;
  }
  void allocate(unsigned sink) noexcept {
    const kit::Requests waiting = sinks_[sink].from & waiting_;
    if (waiting == 0) return;
    if (sink == extraction) return allocate_extraction(waiting);
    ChannelRequests requests;
    for (std::size_t kind = 0; kind < message_kinds; ++kind)
      requests.asks[kind] = (waiting & of_kind_[kind]) != 0;
    for (unsigned channel = 0; channel < channels_; ++channel)
      requests.free[channel] = is_free(sink, channel);
    requests.escape = sinks_[sink].escape.is_due();
    const ChannelAssignment given = assign_channels(requests);
    sinks_[sink].escape.saw(requests, given);
    for (std::size_t kind = 0; kind < message_kinds; ++kind) {
      if (!given[kind]) continue;
      give(sinks_[sink].allocation[kind].pick(waiting & of_kind_[kind]), static_cast<unsigned>(*given[kind]));
    }
  }
  /// One buffer for each priority, and whoever comes (4.4.1).
  void allocate_extraction(kit::Requests waiting) noexcept {
    std::array<kit::Requests, priorities> asking{};
    kit::for_each(waiting, [&](unsigned source) {
      asking[index(first_[source].header.turns.to)] |= kit::request(source);
    });
    for (unsigned priority = 0; priority < priorities; ++priority) {
      if (asking[priority] != 0 && is_free(extraction, priority))
        give(sinks_[extraction].allocation[priority].pick(asking[priority]), priority);
    }
  }
  void give(unsigned source, unsigned channel) noexcept {
    First& first = first_[source];
    first.channel = static_cast<std::uint8_t>(channel);
    sinks_[first.sink].owned = static_cast<std::uint8_t>(sinks_[first.sink].owned | 1u << channel);
    waiting_ &= ~kit::request(source);
    active_ |= kit::request(source);
  }
  [[nodiscard]] unsigned room(unsigned sink, unsigned channel) const noexcept {
    if (sink >= turn_groups) return static_cast<unsigned>(turn_flits - buffers_[sink][channel].size());
    return vacant_[sink][channel];
  }
  [[nodiscard]] bool is_free(unsigned sink, unsigned channel) const noexcept {
    return (sinks_[sink].owned >> channel & 1u) == 0 &&
           room(sink, channel) == (sink < turn_groups ? channel_flits : turn_flits);
  }
  void forward(unsigned sink, auto& ports) {
    const kit::Requests ready = ready_for(sink);
    if (ready == 0) return;
    if (sink == extraction) return kit::for_each(ready, [&](unsigned source) { move(source, ports); });
    move(sinks_[sink].forwarding.pick(ready), ports);
  }
  [[nodiscard]] kit::Requests ready_for(unsigned sink) noexcept {
    kit::Requests ready = 0;
    kit::for_each(sinks_[sink].from & active_ & filled_, [&](unsigned source) {
      if (room(sink, first_[source].channel) != 0) ready |= kit::request(source);
    });
    return ready;
  }
  /// Where a message goes on that leaves by a channel of `sink`.
  [[nodiscard]] std::string place_of_sink(unsigned sink, unsigned channel, const Behind& behind) const {
    if (sink == extraction) return place_of_input(here_, static_cast<Priority>(channel));
    if (sink >= turn_groups) return to_text(here_) + ' ' + name_of(sink, channel);
    return behind(swapped(static_cast<Direction>(sink)), channel);
  }
  void move(unsigned source, auto& ports) {
    const Flit flit = take(source, ports);
    const First& first = first_[source];
    if (flit.tail) {
      sinks_[first.sink].from &= ~kit::request(source);
      sinks_[first.sink].owned = static_cast<std::uint8_t>(sinks_[first.sink].owned & ~(1u << first.channel));
      of_kind_[index(first.kind)] &= ~kit::request(source);
      active_ &= ~kit::request(source);
    }
    if (first.sink == extraction) {
      buffers_[extraction][first.channel].push(flit);
      ++extracting_;
    } else if (first.sink >= turn_groups) {
      put(source_of(first.sink, first.channel), flit);
    } else {
      --vacant_[first.sink][first.channel];
      ports.send(swapped(static_cast<Direction>(first.sink)), first.channel, flit);
    }
  }
  [[nodiscard]] Flit take(unsigned source, auto& ports) {
    const unsigned group = source / most_channels;
    const unsigned channel = source % most_channels;
    if (group == injection) {
      const auto priority = static_cast<Priority>(channel);
      Flit flit = *ports.injected(priority);
      const std::uint32_t recorded = ports.taken(priority);
      if (!std::exchange(started_[channel], !flit.tail)) flit.word.bits = first_[source].header.bits();
      return Flit::of(flit.word, flit.tail, recorded);
    }
    auto& buffer = buffers_[group][channel];
    const Flit flit = buffer.pop();
    if (buffer.empty()) filled_ &= ~kit::request(source);
    if (group < turn_groups) {
      ++to_return_[group][channel];
      ++returning_;
    }
    return flit;
  }
  void extract(auto& ports) {
    for (const Priority priority : {Priority::p0, Priority::p1}) {
      auto& buffer = buffers_[extraction][index(priority)];
      if (buffer.empty() || !ports.accepts(priority)) continue;
      ports.extracted(priority, buffer.pop());
      --extracting_;
    }
  }
  void return_vacancies(auto& ports) {
    for (unsigned direction = 0; direction < directions; ++direction) {
      kit::Requests waiting = 0;
      for (unsigned channel = 0; channel < most_channels; ++channel) {
        if (to_return_[direction][channel] != 0) waiting |= kit::request(channel);
      }
      if (waiting == 0) continue;
      const unsigned channel = turn_to_return_[direction].pick(waiting);
      turn_to_return_[direction].had_its_turn(channel);
      --to_return_[direction][channel];
      --returning_;
      ports.freed(swapped(opposite(static_cast<Direction>(direction))), channel);
    }
  }

  NodePlace here_;
  unsigned channels_;
  std::array<bool, 2> flipped_{};
  std::array<std::array<kit::Fifo<Flit, channel_flits>, most_channels>, sinks> buffers_{};
  std::array<std::array<std::uint8_t, most_channels>, directions> vacant_{};     // behind links
  std::array<std::array<std::uint8_t, most_channels>, directions> to_return_{};  // FVCs that wait
  std::array<kit::RoundRobin, directions> turn_to_return_{};
  std::array<First, sources> first_{};
  std::array<bool, priorities> started_{};  // the header of what is being injected has gone
  std::array<Sink, sinks> sinks_{};
  std::array<kit::Requests, message_kinds> of_kind_{};  // sources, by their first message
  kit::Requests filled_ = 0;                            // sources with a flit
  kit::Requests waiting_ = 0;                           // those whose first message has no buffer to go to
  kit::Requests active_ = 0;                            // those whose first message has one
  unsigned extracting_ = 0;                             // flits in the extraction buffers
  unsigned returning_ = 0;                              // FVCs that wait
};

}  // namespace am::mmachine
