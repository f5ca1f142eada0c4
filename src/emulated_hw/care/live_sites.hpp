// CARE's network live: the routers of its sites in memory that the processes of a job share (kit/live_network.hpp; Byrd, Nakano and Delagi
// 1987). A message has a list of targets, and moves as a whole, whatever its size.
//
//   in order      all targets by one way each, dimension by dimension. Where ways part, and where the local site is a target, the router splits
//                 the message, once: one compare-and-swap says which branches get it (kit/live_ends.hpp). For those that have no room the
//                 site keeps a copy, which serves them later: so a branch is aborted, and sent again from here. (Where but one way leads on
//                 the message waits whole, also for the local site: that spares those on a straight way the decision.)
//   in no order   a list of one, by any channel that leads nearer, or by the one in order. Where none has room the site stores it, and sends
//                 it on later.
//
// No message waits for another in a circle. Each waits for channels in order alone, which lie on one way dimension by dimension, in classes
// round a ring; what a storage has room for waits there instead, but nobody has to. A split waits for all of its branches at most, and holds
// nothing while it does; a router favours what has waited for long (kit/live_ends_carrier.hpp). At its end a message is counted, which needs
// no room. The machine has no such order: it aborts, and sends again. Here whoever dies or stands still in the middle holds up nobody.
//
// A copy that a site keeps may be passed by later messages of the same pair. They are counted, so the one that comes first stands for the
// earlier (transports/emulated/windows.hpp).
//
// Assumed: one attempt to seek a way; a storage holds four packets.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "emulated_hw/care/live_message.hpp"
#include "emulated_hw/care/live_ways.hpp"
#include "emulated_hw/kit/live_ends_network.hpp"

namespace am::care {

/// With what its router has counted.
struct LiveTurns : kit::LiveTurns {
  kit::Tally<std::uint64_t> splits;
  kit::Tally<std::uint64_t> aborts;           ///< of these, some of whose branches had no room
  kit::Tally<std::uint64_t> forced_stores;    ///< of messages that found no way
  kit::Tally<std::uint64_t> retransmissions;  ///< of what its site had kept, or stored
};
using LiveRouter = kit::LiveInputs<live_channels, LiveTurns, kit::HeldChannel>;

class LiveSites final : public kit::LiveEndsNetwork<LiveSites, LiveRouter, LiveMessage> {
 public:
  static constexpr std::uint32_t number = 6;  ///< of this machine, in shared memory

  [[nodiscard]] static constexpr std::size_t bytes(NodeNumber nodes) noexcept {
    return LiveNetwork::bytes(nodes) + nodes * lists_of_node * sizeof(TargetList);
  }
  /// `memory`: aligned to 64 bytes; as `nodes`, it outlives this.
  LiveSites(const LiveShape& shape, std::byte* memory, Nodes& nodes)
      : LiveEndsNetwork(shape.nodes(), shape.bits(), memory, nodes),
        ways_(shape),
        lists_(reinterpret_cast<TargetList*>(memory + LiveNetwork::bytes(shape.nodes()))) {}

  [[nodiscard]] const LiveWays& ways() const noexcept { return ways_; }
  [[nodiscard]] static constexpr unsigned entrance(NodeNumber /*node*/, const LiveMessage& message) noexcept {
    return injections + static_cast<unsigned>(message.lane);
  }

  // By the node itself, one thread at a time.

  /// Whether so many messages, or more, have been counted at a node of another one. Counts come again after 2^20.
  [[nodiscard]] bool has_counted(NodeNumber at, NodeNumber from, Counted lane,
                                 std::uint32_t messages) const noexcept {
    const kit::Entry entry{nodes().arrivals(at, from, lane).load(std::memory_order_acquire)};
    return entry.beyond(messages) >= 0;
  }
  /// A message to several targets, at most most_targets. All have what was sent by this list before. None: a router still holds such a packet.
  [[nodiscard]] std::optional<LiveMessage> write_list(NodeNumber source, Counted lane, unsigned list,
                                                      std::span<const NodeNumber> targets) noexcept;

  // What a carrier asks (kit/live_carrier.hpp, kit/live_ends_carrier.hpp). What was not written by this network, but scribbled by another,
  // ends where it is, and counts nowhere.

  static constexpr unsigned channels = live_channels;
  static constexpr std::array injected = {injections, injections + 1, injections + 2, injections + 3};

  [[nodiscard]] kit::InputAt behind(NodeNumber at, unsigned output) const noexcept {
    return ways_.behind(at, output);
  }
  [[nodiscard]] NodeNumber feeder(NodeNumber at, unsigned input) const noexcept {
    return ways_.feeder(at, input);
  }
  [[nodiscard]] kit::EndSet ends(NodeNumber at, unsigned input, std::uint32_t packet) const noexcept;
  [[nodiscard]] std::uint32_t packet_at(NodeNumber at, unsigned output, std::uint32_t packet,
                                        Requests fate) const noexcept;
  void moved(NodeNumber at, unsigned input, Requests outputs, bool to_node) noexcept;

 private:
  [[nodiscard]] TargetList& list_of(const LiveMessage& message) const noexcept {
    return lists_[message.source * lists_of_node + static_cast<unsigned>(message.lane) * lists_of_lane +
                  message.list];
  }
  [[nodiscard]] bool holds_any(const LiveMessage& message) const noexcept;
  [[nodiscard]] kit::EndSet ends_of_list(NodeNumber at, unsigned input,
                                         const LiveMessage& message) const noexcept;

  const LiveWays ways_;
  TargetList* const lists_;
};

}  // namespace am::care

namespace am::kit {
extern template class LiveNetwork<care::LiveSites, care::LiveRouter>;
}
