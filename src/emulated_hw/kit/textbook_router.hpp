// The field's textbook router: input-queued, with virtual channels and credits (W. J. Dally and B. Towles, Principles and Practices
// of Interconnection Networks, 2004, chapters 16 and 17). A head flit takes four cycles and the channel: its route is looked up, a
// virtual channel of that output is allocated, a turn on the switch is, and it passes the switch; the flits behind it take the
// last two. No stage is skipped or guessed at, but the first one where routes are looked up ahead: then a head comes with its route.
//
// Time. Everything that a router reads in a cycle was there when the cycle began, and what it sends arrives later: so it
// cannot be seen in which order routers are stepped. Within the step the stages come last first, so that nothing passes two.
//
// Names and meaning of what is counted are those of BookSim2, with routing_delay 1 or 0, vc_alloc_delay, sw_alloc_delay and
// st_final_delay 1, st_prepare_delay 0, speculative 0, input_speedup and output_speedup 1, alloc_iters 1, and both allocators islip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/allocator.hpp"
#include "emulated_hw/kit/arbiter.hpp"
#include "emulated_hw/kit/flit.hpp"
#include "emulated_hw/kit/wide_requests.hpp"

namespace am::kit {

/// What all routers of a network have in common. Inputs and outputs, each a virtual channel of a port, are numbered
/// port * vcs + vc.
struct RouterShape {
  unsigned ports = 0;
  unsigned vcs = 0;
  unsigned buffer = 0;         ///< flits of an input
  unsigned routing_delay = 1;  ///< cycles: 0 or 1
  /// The virtual channel of each port that packets of both classes of a ring may take: where the number of these is odd.
  unsigned shared_vc = none;

  static constexpr unsigned none = ~0u;
  static constexpr unsigned most_channels = 256;  ///< ports * vcs
  static constexpr unsigned most_vcs = 32;
  static constexpr unsigned most_ports = 24;
  static constexpr unsigned most_buffer = 255;

  [[nodiscard]] constexpr unsigned channel(unsigned port, unsigned vc) const noexcept {
    return port * vcs + vc;
  }
  /// Of a port, as bits.
  [[nodiscard]] constexpr std::uint32_t all_vcs() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << vcs) - 1);
  }
};

/// Where a packet may go: a port, and which virtual channels of that.
struct Route {
  std::uint8_t port = 0;
  std::uint8_t vc_class = 0;  ///< of these; its flits take it along
  std::uint32_t vcs = 0;      ///< as bits
};

/// Channels are held by so many words: routers that have few are small, and as fast as there are.
template <unsigned Words>
class TextbookRouter {
 public:
  static constexpr unsigned most_channels = 64 * Words;

  /// `buffers` has room for shape.buffer flits of each input. Nothing is known yet of the buffers that its outputs lead to.
  void reset(const RouterShape& shape, Flit* buffers) noexcept {
    *this = {};
    buffers_ = buffers;
    for (unsigned port = 0; port < shape.ports; ++port) {
      for (unsigned vc = 0; vc < shape.vcs; ++vc)
        port_of_[shape.channel(port, vc)] = static_cast<std::uint8_t>(port);
    }
  }

  /// A flit has come.
  void receive(const RouterShape& shape, unsigned port, Flit flit) noexcept {
    const unsigned input = shape.channel(port, flit.vc());
    unsigned at = first_[input] + count_[input];
    if (at >= shape.buffer) at -= shape.buffer;
    buffers_[input * shape.buffer + at] = flit;
    ++count_[input];
    filled_ |= only(input);
    if (has(active_, input)) {
      ready_ |= kit::only<Channels>(input, has(with_credit_, output_[input]));
    } else if (!has(waiting_, input)) {
      routing_ |= only(input);
    }
  }
  /// There is room for one flit more behind that output.
  void credit(unsigned output, unsigned flits = 1) noexcept {
    credits_[output] = static_cast<std::uint8_t>(credits_[output] + flits);
    with_credit_ |= only(output);
    const unsigned input = input_[output];
    ready_ |= kit::only<Channels>(input, has(taken_, output) && has(filled_, input));
  }

  /// One cycle, after what comes in it has been received. `route(port, flit)` says where a packet may go that came by that port;
  /// `send(port, flit)` takes a flit that passes the switch, and `freed(port, vc)` hears that there is room for one more behind that
  /// input. Whether there is anything left to do in the next cycle.
  template <class RouteOf, class Send, class Freed>
  bool step(const RouterShape& shape, RouteOf&& route, Send&& send, Freed&& freed) {
    if (shape.routing_delay == 0) look_up(shape, routing_, route);
    const Channels routing = routing_;
    Allocated allocated;
    if (waiting_ != Channels{}) allocate_channels(shape, allocated);
    if (ready_ != Channels{}) allocate_switch(shape, send, freed);
    for_each(allocated.inputs, [&](unsigned input) { become_active(input, allocated.output[input]); });
    if (shape.routing_delay != 0) look_up(shape, routing, route);
    return (routing_ | waiting_ | ready_) != Channels{};
  }

  // for tests and reports
  [[nodiscard]] unsigned count(unsigned input) const noexcept { return count_[input]; }
  [[nodiscard]] unsigned credits(unsigned output) const noexcept { return credits_[output]; }
  [[nodiscard]] bool is_waiting(unsigned input) const noexcept { return has(waiting_, input); }
  [[nodiscard]] bool is_active(unsigned input) const noexcept { return has(active_, input); }
  [[nodiscard]] Route route_of(unsigned input) const noexcept { return route_[input]; }
  [[nodiscard]] unsigned output_of(unsigned input) const noexcept { return output_[input]; }
  [[nodiscard]] Flit front(const RouterShape& shape, unsigned input) const noexcept {
    return buffers_[input * shape.buffer + first_[input]];
  }

 private:
  using Channels = RequestsOf<Words>;
  static constexpr Channels only(unsigned channel) noexcept { return kit::only<Channels>(channel); }
  using ChannelAllocator = Allocator<most_channels, most_channels, Channels>;
  using SwitchAllocator = Allocator<RouterShape::most_ports, RouterShape::most_ports>;  // of ports
  struct Allocated {
    Channels inputs{};
    std::array<std::uint8_t, most_channels> output;
  };

  template <class RouteOf>
  void look_up(const RouterShape& shape, Channels routing, RouteOf&& route) {
    for_each(routing, [&](unsigned input) { route_[input] = route(port_of_[input], front(shape, input)); });
    waiting_ |= routing;
    routing_ &= ~routing;
  }

  void allocate_channels(const RouterShape& shape, Allocated& allocated) noexcept {
    typename ChannelAllocator::Asked asked;
    for_each(waiting_, [&](unsigned input) { asked.ask(input, outputs_for(shape, input)); });
    channels_.allocate(asked, [&](unsigned input, unsigned output) {
      allocated.inputs |= only(input);
      allocated.output[input] = static_cast<std::uint8_t>(output);
    });
  }

  /// The free ones of those that its packet may take.
  [[nodiscard]] Channels outputs_for(const RouterShape& shape, unsigned input) const noexcept {
    const Route& wanted = route_[input];
    const Channels free = Channels{wanted.vcs} << wanted.port * shape.vcs & ~taken_;
    if (shape.shared_vc == RouterShape::none) [[likely]]
      return free;
    return keeps_classes_apart(shape, wanted) ? free
                                              : free & ~only(shape.channel(wanted.port, shape.shared_vc));
  }
  /// In the buffer of the channel that both classes share there are packets of one class at a time. So who is in front of a packet there
  /// is of its class, and the argument of dimension_order.hpp holds: each class has a channel of its own besides, where it goes on.
  [[nodiscard]] bool keeps_classes_apart(const RouterShape& shape, const Route& wanted) const noexcept {
    const unsigned output = shape.channel(wanted.port, shape.shared_vc);
    return credits_[output] == shape.buffer || has(second_class_, output) == (wanted.vc_class != 0);
  }

  void become_active(unsigned input, unsigned output) noexcept {
    waiting_ &= ~only(input);
    active_ |= only(input);
    output_[input] = static_cast<std::uint8_t>(output);
    input_[output] = static_cast<std::uint8_t>(input);
    to_port_[port_of_[output]] |= only(input);
    ready_ |= kit::only<Channels>(input, has(with_credit_, output));  // its head is there
    taken_ |= only(output);
    second_class_ &= ~only(output);
    if (route_[input].vc_class != 0) second_class_ |= only(output);
  }

  /// Ports with a flit, and credit for it, ask for the port that it is to leave by.
  template <class Send, class Freed>
  void allocate_switch(const RouterShape& shape, Send&& send, Freed&& freed) {
    const Channels ready = ready_;
    SwitchAllocator::Asked asked;
    for_each(ready, [&](unsigned input) { asked.ask(port_of_[input], request(port_of_[output_[input]])); });
    switch_.allocate(asked, [&](unsigned from, unsigned port) {
      const Channels of_port = Channels{shape.all_vcs()} << from * shape.vcs;
      const unsigned input = turn_of_input_[from].pick(ready & to_port_[port] & of_port);
      turn_of_input_[from].had_its_turn(input);
      pass(shape, input, send, freed);
    });
  }

  template <class Send, class Freed>
  void pass(const RouterShape& shape, unsigned input, Send&& send, Freed&& freed) {
    const unsigned output = output_[input];
    const unsigned port = port_of_[output];
    const unsigned from = port_of_[input];
    const Flit flit = front(shape, input);
    first_[input] = static_cast<std::uint8_t>(first_[input] + 1u == shape.buffer ? 0 : first_[input] + 1u);
    if (--count_[input] == 0) filled_ &= ~only(input);
    if (--credits_[output] == 0) with_credit_ &= ~only(output);
    if (count_[input] == 0 || credits_[output] == 0 || flit.is_tail()) ready_ &= ~only(input);
    if (flit.is_tail()) {
      active_ &= ~only(input);
      taken_ &= ~only(output);
      to_port_[port] &= ~only(input);
      routing_ |= filled_ & only(input);
    }
    send(port, flit.on(output - port * shape.vcs, route_[input].vc_class));
    freed(from, input - from * shape.vcs);
  }

  // An input is in one of these, by bits, or idle: its packet's route is being looked up; it waits for a virtual channel; it has one.
  Channels routing_{};
  Channels waiting_{};
  Channels active_{};
  Channels filled_{};        // inputs with a flit
  Channels ready_{};         // active ones with a flit, and credit for it
  Channels taken_{};         // outputs that an input has
  Channels with_credit_{};   // outputs
  Channels second_class_{};  // outputs whose last packet had class 1
  Flit* buffers_ = nullptr;

  template <class T>
  using ByChannel = std::array<T, most_channels>;
  template <class T>
  using ByPort = std::array<T, RouterShape::most_ports>;
  ByChannel<std::uint8_t> first_{};    // of an input's buffer
  ByChannel<std::uint8_t> count_{};    // flits there
  ByChannel<std::uint8_t> output_{};   // of an active input
  ByChannel<std::uint8_t> input_{};    // of an output that one has
  ByChannel<std::uint8_t> credits_{};  // of an output
  ByChannel<std::uint8_t> port_of_{};
  ByChannel<Route> route_{};  // of a waiting input
  ChannelAllocator channels_{};
  SwitchAllocator switch_{};
  ByPort<Channels> to_port_{};  // active inputs, by the port of their output
  ByPort<RoundRobinOf<std::uint8_t, Channels>> turn_of_input_{};  // among the channels of an input port
};

}  // namespace am::kit
