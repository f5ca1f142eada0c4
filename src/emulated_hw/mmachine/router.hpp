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

/// What a router is connected to.
class RouterPorts {
 public:
  /// The next flit of the network output unit of that priority, its parity not computed; none: nothing to send now. Asked again, the
  /// answer is the same until it is taken.
  [[nodiscard]] virtual const Flit* injected(Priority priority) = 0;
  /// It has gone. What a trace calls its message.
  virtual std::uint32_t taken(Priority priority) = 0;
  /// Over the link of that side, into that channel of the router there.
  virtual void send(Direction side, unsigned channel, const Flit& flit) = 0;
  /// The channel of the router at that side, which sent a flit, has room for one more.
  virtual void freed(Direction side, unsigned channel) = 0;
  [[nodiscard]] virtual bool accepts(Priority priority) = 0;
  virtual void extracted(Priority priority, const Flit& flit) = 0;

 protected:
  ~RouterPorts() = default;
};

/// The places in kit::Waits of a node's network output and input units.
[[nodiscard]] std::string place_of_output(NodePlace node, Priority priority);
[[nodiscard]] std::string place_of_input(NodePlace node, Priority priority);

class Router {
 public:
  /// With `channels` virtual channels: 4, or the prototype's 2.
  Router(NodePlace here, unsigned channels) noexcept;

  /// Swaps the sides of a dimension (4.4.1), before anything is sent.
  void flip(unsigned dimension, bool yes) noexcept { flipped_[dimension] = yes; }

  // -- what comes before a step

  void receive(Direction side, unsigned channel, const Flit& flit) noexcept;
  void vacancy(Direction side, unsigned channel) noexcept;

  void step(RouterPorts& ports);
  /// There is nothing in it, and nothing to tell.
  [[nodiscard]] bool is_idle() const noexcept { return filled_ == 0 && extracting_ == 0 && returning_ == 0; }

  struct Counts {
    std::uint64_t flits = 0;  ///< sent over links
    std::uint64_t vacancy_stalls =
        0;  ///< cycles in which a flit had a buffer to go to, and no room there; each flit counts
    std::uint64_t waits = 0;  ///< cycles in which a message had no buffer to go to; each message counts
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// Adds each message that has no buffer to go to, or no room there. `behind` names the place that a channel of a side's link leads to.
  using Behind = std::function<std::string(Direction side, unsigned channel)>;
  void add_waits(kit::Waits& waits, const Behind& behind) const;
  /// The place of what comes by a channel of a side's link.
  [[nodiscard]] std::string place_of(Direction side, unsigned channel) const;

 private:
  // Groups of buffers that messages come from: virtual channels and turn buffers by direction, and the network output units.
  static constexpr unsigned turn_groups = directions;
  static constexpr unsigned injection = 2 * directions;
  static constexpr unsigned groups = injection + 1;
  static constexpr unsigned sources = injection * most_channels + priorities;
  // Groups that they go to: links and turn buffers by direction, and the extraction buffers.
  static constexpr unsigned extraction = 2 * directions;
  static constexpr unsigned sinks = extraction + 1;

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
    unsigned pick(kit::Requests sources) noexcept;

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

  [[nodiscard]] Direction swapped(Direction direction) const noexcept {
    return flipped_[dimension_of(direction)] ? opposite(direction) : direction;
  }
  void look_at_injection(RouterPorts& ports);
  void put(unsigned source, const Flit& flit) noexcept;
  void begin(unsigned source, const Header& header) noexcept;
  [[nodiscard]] unsigned sink_of(unsigned source, const Header& header) const noexcept;
  void allocate(unsigned sink) noexcept;
  void allocate_extraction(kit::Requests waiting) noexcept;
  void give(unsigned source, unsigned channel) noexcept;
  [[nodiscard]] unsigned room(unsigned sink, unsigned channel) const noexcept;
  [[nodiscard]] bool is_free(unsigned sink, unsigned channel) const noexcept;
  void forward(unsigned sink, RouterPorts& ports);
  [[nodiscard]] kit::Requests ready_for(unsigned sink) noexcept;
  [[nodiscard]] std::string place_of_sink(unsigned sink, unsigned channel, const Behind& behind) const;
  void move(unsigned source, RouterPorts& ports);
  [[nodiscard]] Flit take(unsigned source, RouterPorts& ports);
  void extract(RouterPorts& ports);
  void return_vacancies(RouterPorts& ports);

  NodePlace here_;
  unsigned channels_;
  std::array<bool, 2> flipped_{};
  std::array<std::array<kit::Fifo<Flit, channel_flits>, most_channels>, 2 * directions> buffers_{};
  std::array<std::array<std::uint8_t, most_channels>, directions> vacant_{};     // behind links
  std::array<std::array<std::uint8_t, most_channels>, directions> to_return_{};  // FVCs that wait
  std::array<kit::RoundRobin, directions> turn_to_return_{};
  std::array<kit::Fifo<Flit, turn_flits>, priorities> extraction_{};
  std::array<First, sources> first_{};
  std::array<bool, priorities> started_{};  // the header of what is being injected has gone
  std::array<Sink, sinks> sinks_{};
  std::array<kit::Requests, message_kinds> of_kind_{};  // sources, by their first message
  kit::Requests filled_ = 0;                            // sources with a flit
  kit::Requests waiting_ = 0;                           // those whose first message has no buffer to go to
  kit::Requests active_ = 0;                            // those whose first message has one
  unsigned extracting_ = 0;                             // flits in the extraction buffers
  unsigned returning_ = 0;                              // FVCs that wait
  Counts counts_{};
};

}  // namespace am::mmachine
