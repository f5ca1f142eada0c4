// The emulated CM-5's data networks (AM_TRANSPORT=cm5) as core sees them: a packet goes as the messages into which a CM-5 would have to cut
// it, low ones by the left network and high ones by the right one. They come in any order, are put together in the packet's window, and
// packets there in order (piece_windows.hpp). Unordered packets of one message have a lane of their own: no other one holds them up. What all
// nodes do together goes by the control network.
//
// Used by the owning node's thread only; but its host's functions are called by whoever carries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulated_hw/cm5/live_control.hpp"
#include "emulated_hw/cm5/live_tree.hpp"
#include "host/zeroed_array.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/network_swaps.hpp"
#include "transports/emulated/piece_windows.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/synchronizer.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::emulated {

/// The CM-5 messages into which a packet is cut (von Eicken 1993, 3.2.3): up to five words of 32 bits, of which one says where the others belong.
[[nodiscard]] constexpr std::size_t cm5_messages(std::size_t words, bool has_payload,
                                                 std::size_t payload_bytes) noexcept {
  constexpr std::size_t most_data = cm5::most_words - 1;
  const std::size_t all = 2 * words + (has_payload ? 1 + (payload_bytes + 3) / 4 : 0);
  return all <= most_data ? 1 : (all + most_data - 1) / most_data;
}
inline constexpr std::size_t most_cm5_messages =
    cm5_messages(impl::max_words, true, impl::packet_payload_bytes);

/// Of one of the two data networks, which lie one behind the other; then comes the control network.
[[nodiscard]] inline std::size_t cm5_network_bytes(NodeId nodes) {
  return host::round_up(cm5::LiveTree::bytes(nodes), host::line);
}
/// Throws am::Error where there is no CM-5 of so many nodes.
[[nodiscard]] std::size_t cm5_bytes(NodeId nodes);

class Cm5Transport final : public WindowTransport,
                           public UnorderedLanes,
                           public Synchronizer,
                           private cm5::LiveControl::Nodes {
 public:
  /// Throws am::Error.
  explicit Cm5Transport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "cm5"; }
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override {
    return claim_in(lane_for(priority, words, payload_bytes), to, words, payload_bytes);
  }
  /// In the lane that a packet of any number of words would take.
  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t payload_bytes) noexcept override {
    return has_room_in(lane_for(priority, 0, payload_bytes), to, payload_bytes) &&
           has_room_in(lane_for(priority, impl::max_words, payload_bytes), to, payload_bytes);
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] Synchronizer* synchronizer() noexcept override { return this; }
  void take_part(std::uint64_t number, const Operation& operation, const Part& part) noexcept override;
  [[nodiscard]] std::optional<Result> result(std::uint64_t number, bool thoroughly) noexcept override;
  [[nodiscard]] std::optional<Operation> part_of(NodeId node, std::uint64_t number) const noexcept override;
  void commit(const Slot& slot, impl::Header header) noexcept override;
  bool progress() noexcept override;
  [[nodiscard]] bool drained() const noexcept override;

 private:
  using Networks = std::array<cm5::LiveTree, 2>;
  struct Network {
    using Mesh = Networks;
    using Message = cm5::LiveMessage;
    static bool inject(Mesh& networks, NodeId node, Priority priority, const Message& message) noexcept {
      return of(networks, priority).inject(node, message);
    }
    static void carry(Mesh& networks, NodeId node, Priority priority, const Message& /*message*/) noexcept {
      of(networks, priority).carry(node);
    }
    static bool ask_for_room(Mesh& networks, NodeId node, Priority priority,
                             const Message& /*message*/) noexcept {
      return of(networks, priority).ask_for_room(node);
    }
  };

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override;
  void forget_refusals() noexcept override { injector_.forget(); }
  /// In frozen networks nobody carries what was saved: a node that sleeps might sleep for long.
  bool has_news() noexcept override { return are_frozen() || injector_.room_came() || has_result(); }
  void has_result(NodeId node) noexcept override { showing_.has_room(node); }
  /// The one that it waits for: said once.
  [[nodiscard]] bool has_result() noexcept;

  [[nodiscard]] bool are_frozen() const noexcept {
    return networks_[0].frozen_until() != 0 || networks_[1].frozen_until() != 0;
  }
  static cm5::LiveTree& of(Networks& networks, Priority priority) noexcept {
    return networks[static_cast<std::size_t>(priority)];
  }
  static constexpr Lane lane_for(Priority priority, std::size_t words, std::size_t payload_bytes) noexcept {
    return lane_of(priority, cm5_messages(words, payload_bytes != 0, payload_bytes) == 1);
  }
  /// A packet for each slot that may have been claimed.
  [[nodiscard]] std::size_t most_waiting() const noexcept {
    return most_cm5_messages * (most_lanes / 2 * windows().nodes() + 1);
  }

  PieceHost host_;
  const Showing showing_;
  Networks networks_;  // by priority: left, right
  cm5::LiveControl control_;
  std::uint64_t awaited_ = 0;              // in the control network; 0: none
  host::ZeroedArray<std::uint64_t> sent_;  // packets, by receiver and ordered lane
  Injector<Network> injector_;
  NetworkSwaps swaps_;
};

}  // namespace am::emulated
