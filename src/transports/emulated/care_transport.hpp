// CARE's network (AM_TRANSPORT=care[:torus|:cube][:RxC]) as core sees it: a packet goes through the routers as one message, whatever its size; when
// that has come the packet may be read, in its window (window_transport.hpp). A multicast is one message with its list of targets, which
// the routers split (emulated_hw/care/live_sites.hpp); a longer list is cut into several. Unordered packets that are not long take any way that
// leads nearer.
//
// CARE has no priorities. Low and high are kept apart by their windows: what is under way always has its place, so no low message holds up a
// high one for long.
//
// Source: Byrd, Nakano and Delagi, A Point-to-Point Multicast Communications Protocol (1987).
//
// Used by the owning node's thread only; but its host's functions are called by whoever carries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "emulated_hw/care/live_lists.hpp"
#include "emulated_hw/care/live_sites.hpp"
#include "transports/emulated/counting_host.hpp"
#include "transports/emulated/injector.hpp"
#include "transports/emulated/window_transport.hpp"
#include "transports/multicaster.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::emulated {

/// Of `options`, for so many nodes; without, the squarest torus that there is. Throws am::Error.
[[nodiscard]] care::LiveShape care_shape(std::string_view options, NodeId nodes);

class CareTransport final : public WindowTransport, public Multicaster, public UnorderedLanes {
 public:
  /// Throws am::Error.
  explicit CareTransport(const Site& site);

  [[nodiscard]] std::string_view name() const noexcept override { return "care"; }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override {
    return claim_in(lane_for(priority, payload_bytes), to, words, payload_bytes);
  }
  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t payload_bytes) noexcept override {
    return has_room_in(lane_for(priority, payload_bytes), to, payload_bytes);
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept override { return this; }
  /// All: each is on a list.
  void share_out(NodeId from, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) const noexcept override;
  void begin_multicast() noexcept override { multicast_ = Multicast{}; }
  void end_multicast() noexcept override;
  [[nodiscard]] Multicaster* multicaster(NodeId /*from*/,
                                         std::span<const NodeId> /*members*/) noexcept override {
    return this;
  }
  [[nodiscard]] bool drained() const noexcept override { return !has_backlog() && sites_.has_gone(self()); }

 private:
  using Network = EnteredBy<care::LiveSites, care::LiveMessage>;
  /// Of an unordered packet: several have to fit into the lane's lines.
  static constexpr Lane lane_for(Priority priority, std::size_t payload_bytes) noexcept {
    return lane_of(priority, payload_bytes <= unordered_lines / 4 * host::line);
  }
  /// What was committed since begin_multicast: all the same packet.
  struct Multicast {
    Priority priority = Priority::low;
    NodeId members = 0;  // those in members_
  };

  CareTransport(const Site& site, const care::LiveShape& shape);

  bool push(Priority priority) noexcept override { return injector_.push(priority); }
  bool look_after() noexcept override { return sites_.look_after(); }
  void forget_refusals() noexcept override { injector_.forget(); }
  [[nodiscard]] bool has_news() noexcept override { return injector_.room_came(); }

  void send(Priority priority, const care::LiveMessage& message) noexcept;
  void send_to_one(Priority priority, care::Counted lane, NodeId to) noexcept;
  void send_list(Priority priority, std::span<const NodeId> targets) noexcept;

  CountingHost<care::LiveSites, care::Counted> host_;
  care::LiveSites sites_;
  care::LiveLists lists_;
  Injector<Network> injector_;
  std::optional<Multicast> multicast_;
  std::vector<NodeId> members_;  // of a multicast
};

}  // namespace am::emulated
