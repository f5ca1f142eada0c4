// The network of the nCUBE/2 live: its routers in memory that the processes of a job share (kit/live_network.hpp; von Eicken 1993, 3.1.3).
//
// As under the clock (network.hpp) a message goes along e-cube's way, and enters by the engine of its first dimension. It moves as a whole,
// whatever its size, so a channel holds messages, not flits. At its end a message is counted; but a fetch, which the kernel answers, turns
// there into its answer. A broadcast enters all channels that it needs in a router, or none (kit/live_ends.hpp).
//
// No message waits for another in a circle: each waits for channels of higher dimensions alone, also where it keeps out of one for a
// broadcast (kit/live_ends_carrier.hpp), and at its end for none. A fetch waits for the channels of answers, which these have for
// themselves: on the machine they would have to find room at the kernel. A broadcast holds nothing while it waits. There are no forwarding
// addresses, which could lead back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/live_ends_network.hpp"
#include "emulated_hw/ncube2/e_cube.hpp"
#include "emulated_hw/ncube2/live_message.hpp"

namespace am::ncube2 {

// Channels of a router, in and out: links by dimension, what a node sends to itself, answers by dimension; and the engines of its node.
inline constexpr unsigned to_itself = most_live_dimensions;
inline constexpr unsigned answers = to_itself + 1;
inline constexpr unsigned engines = kit::Head::most_ends + 1;  // no packet enters these
inline constexpr unsigned live_channels = engines + most_live_dimensions;
static_assert(answers + most_live_dimensions <= kit::Head::most_ends &&
              live_channels <= kit::Entry::most_inputs);

using LiveRouter = kit::LiveInputs<live_channels, kit::LiveTurns, kit::HeldChannel>;

class LiveCube final : public kit::LiveEndsNetwork<LiveCube, LiveRouter, LiveMessage> {
 public:
  static constexpr std::uint32_t number = 3;  ///< of this machine, in shared memory

  /// Of 2^dimensions nodes. `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveCube(unsigned dimensions, std::byte* memory, Nodes& nodes)
      : LiveEndsNetwork(NodeNumber{1} << dimensions, dimensions, memory, nodes) {}

  [[nodiscard]] static constexpr unsigned entrance(NodeNumber node, const LiveMessage& message) noexcept {
    const bool is_own = message.destination == node && message.mask == 0;
    return is_own ? to_itself : engines + first_dimension(node, message.address());
  }

  // What a carrier asks (kit/live_carrier.hpp, kit/live_ends_carrier.hpp).

  static constexpr unsigned channels = live_channels;
  static constexpr auto injected = [] {
    std::array<unsigned, 1 + most_live_dimensions> all{to_itself};
    for (unsigned dimension = 0; dimension < most_live_dimensions; ++dimension)
      all[1 + dimension] = engines + dimension;
    return all;
  }();

  [[nodiscard]] static kit::InputAt behind(NodeNumber at, unsigned output) noexcept {
    return {at ^ (NodeNumber{1} << dimension_of(output)), output};
  }
  [[nodiscard]] NodeNumber feeder(NodeNumber at, unsigned input) const noexcept {
    if (input == to_itself || input >= engines) return kit::nowhere;
    const NodeNumber from = at ^ (NodeNumber{1} << dimension_of(input));
    return from < routers() ? from : kit::nowhere;
  }
  [[nodiscard]] kit::EndSet ends(NodeNumber at, unsigned input, std::uint32_t packet) const noexcept {
    const LiveMessage message = LiveMessage::of(packet);
    if (!is_whole(message)) return {};
    const unsigned open = input < to_itself ? input + 1 : 0;
    const Outputs outputs = e_cube(at, message.address(), open);
    if (message.who == For::answer) return {kit::Requests{outputs.dimensions} << answers, outputs.here};
    if (message.who == For::fetch && outputs.here)
      return {kit::request(answers + first_dimension(at, message.answered().address())), false};
    return {outputs.dimensions, outputs.here};
  }
  /// A fetch into a channel of answers has been where it goes.
  [[nodiscard]] static std::uint32_t packet_at(NodeNumber /*at*/, unsigned output, std::uint32_t packet,
                                               kit::Requests /*fate*/) noexcept {
    const LiveMessage message = LiveMessage::of(packet);
    return output >= answers && message.who == For::fetch ? message.answered().bits() : packet;
  }

 private:
  static constexpr unsigned dimension_of(unsigned channel) noexcept {
    return channel < answers ? channel : channel - answers;
  }
  /// It was written by this network, and not scribbled by another: then it ends where it is, and counts nowhere.
  [[nodiscard]] bool is_whole(const LiveMessage& message) const noexcept {
    const bool is_access = message.who >= For::store;
    return message.destination < routers() && message.source < routers() && message.mask < routers() &&
           message.who <= For::answer && !(is_access && message.source == message.destination);
  }
};

}  // namespace am::ncube2

namespace am::kit {
extern template class LiveNetwork<ncube2::LiveCube, ncube2::LiveRouter>;
}
