// The decorator itself. Every other network under it is tested through it: see tests/unit/transports/faults/faults_test.cpp.
//
//   refuse  A claim is answered `again` although there may be room; at most most_refusals times in a row for a peer and
//           priority, so that whoever keeps trying succeeds. Of a multicast only the first claim: each could be refused one of
//           many for ever. As often, a long payload finds room for a short piece only.
//   delay   A packet that came is held back for 1 to longest_delay rounds, by leaving it where it is (Transport::defer).
//           Its neighbour's later packets of that priority wait behind it; every other neighbour's, and the other
//           priority's, go past: that is all the reordering that the contract allows of ordered ones.
//   reorder An unordered packet that came is taken out of its network, and given 1 to longest_delay rounds later: what was sent
//           behind it overtakes it. Its sender decides that, and marks it in its origin, which nobody else reads but of multicasts.
//           Where there is no room for one more it waits in its network.
//   kill    This process ends by SIGKILL in the middle of a send: with its packet filled in but not published, or
//           published but unknown to the sender, as the seed says.
//
// What happens follows from the seed, this node's id, and the calls of core: the same calls, the same faults. Used by the
// owning node's thread only.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "transports/faults/kept_packets.hpp"
#include "transports/faults/plan.hpp"
#include "transports/memory_reach.hpp"
#include "transports/multicaster.hpp"
#include "transports/payload_room.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::faults {

/// A stream of decisions; nodes and purposes have streams of their own.
class Dice {
 public:
  Dice(std::uint64_t seed, NodeId node, std::uint32_t purpose);
  [[nodiscard]] bool falls(double probability);
  /// From 1 to `sides`.
  [[nodiscard]] std::uint64_t roll(std::uint64_t sides);

 private:
  std::mt19937_64 engine_;
};

class FaultyTransport final : public Transport,
                              private PayloadRoom,
                              private UnorderedLanes,
                              private MemoryReach,
                              private Multicaster {
 public:
  static constexpr std::uint32_t most_refusals = 16;
  static constexpr std::uint64_t longest_delay = 16;  // rounds

  /// `nodes`: with how many it may have to do; 0: as many as it meets.
  FaultyTransport(Transport& network, const Plan& plan, NodeId self, NodeId nodes = 0);

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  void fill(const Slot& slot, Payload payload) noexcept override { network_.fill(slot, payload); }
  void commit(const Slot& slot, impl::Header header) noexcept override;
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override {
    return network_.has_room(to, priority, payload_bytes);
  }
  [[nodiscard]] View receive(Priority priority) noexcept override;
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    return kept_.holds(view.priority, view.packet) ? Transport::payload_of(view) : network_.payload_of(view);
  }
  void release(const View& view) noexcept override;
  void defer(const View& view) noexcept override;
  /// Also one that is held back: it has come, and later rounds will give it.
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override {
    const bool is_kept = kept_.holds(priority, lent);
    return network_.waits(priority, is_kept ? nullptr : lent) || kept_.waits(priority, lent);
  }
  bool progress() noexcept override;
  void flush() noexcept override { network_.flush(); }
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override { network_.disarm(); }
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override {
    return !kept_.any(wanted) && network_.still_armed(wanted);
  }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override {
    return network_.describe(lookout, wanted) || holds_back() || kept_.any(wanted);
  }
  [[nodiscard]] bool holds_back() const noexcept override { return round_ < all_free_at_; }
  [[nodiscard]] bool drained() const noexcept override { return network_.drained(); }
  [[nodiscard]] bool published() const noexcept override { return network_.published(); }
  void close(NodeId peer) noexcept override { network_.close(peer); }
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    return network_.queued(to, priority);
  }
  [[nodiscard]] std::string way_to(NodeId peer) const override { return network_.way_to(peer); }

  [[nodiscard]] ControlLane* control_lane(NodeId peer) noexcept override {
    return network_.control_lane(peer);
  }
  /// Memory is not mapped, nor are accesses carried by themselves: puts and gets are to meet the faults, too. Moves are refused.
  [[nodiscard]] MemoryReach* memory_reach(NodeId peer) noexcept override {
    return goes_by(Way::moved, network_.memory_reach(peer)) ? this : nullptr;
  }
  [[nodiscard]] PayloadRoom* payload_room(NodeId peer) noexcept override {
    return network_.payload_room(peer) != nullptr ? this : nullptr;
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] Pathways* pathways(NodeId peer) noexcept override { return network_.pathways(peer); }
  [[nodiscard]] Multicaster* multicaster(NodeId from, std::span<const NodeId> members) noexcept override {
    multicaster_ = network_.multicaster(from, members);
    return multicaster_ != nullptr ? this : nullptr;
  }
  [[nodiscard]] Synchronizer* synchronizer() noexcept override { return network_.synchronizer(); }

 private:
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override;
  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t payload_bytes) noexcept override;
  [[nodiscard]] Slot lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  void give_back(const Slot& lent) noexcept override { network_.payload_room(lent.to)->give_back(lent); }
  [[nodiscard]] Slot claim_lent(const Slot& lent) noexcept override;
  [[nodiscard]] Way way() const noexcept override { return Way::moved; }
  [[nodiscard]] std::size_t shortest_move(Access access, NodeId peer) const noexcept override {
    return network_.memory_reach(peer)->shortest_move(access, peer);
  }
  [[nodiscard]] Status begin_move(const Move& move, const std::byte* from) noexcept override {
    return refuses(move.peer, Priority::low) ? Status::again
                                             : network_.memory_reach(move.peer)->begin_move(move, from);
  }
  void share_out(NodeId from, std::span<const NodeId> members,
                 std::span<std::uint32_t> by) const noexcept override {
    multicaster_->share_out(from, members, by);
  }
  void begin_multicast() noexcept override {
    multicast_ = Multicast::begun;
    multicaster_->begin_multicast();
  }
  void end_multicast() noexcept override {
    multicast_ = Multicast::none;
    multicaster_->end_multicast();
  }

  /// The packet at the head of a way in.
  struct Head {
    bool decided = false;          // the dice have fallen for it
    std::uint64_t held_until = 0;  // the round in which it may be received
  };
  static constexpr std::size_t most_lanes = 4;  // that a network has
  /// What is known about the traffic with one peer at one priority.
  struct Link {
    std::uint32_t refusals = 0;               // in a row
    const impl::Packet* unordered = nullptr;  // claimed as such
    std::array<Head, most_lanes> heads{};     // by lane
  };
  [[nodiscard]] Link& link(NodeId peer, Priority priority);
  [[nodiscard]] Head& head(const View& view) {
    return link(view.source, view.priority).heads[view.lane % most_lanes];
  }
  [[nodiscard]] bool refuses(NodeId to, Priority priority);
  /// The round in which something is to come that is held back from now on.
  [[nodiscard]] std::uint64_t later(Dice& dice);
  /// Whether the packet at the head of its way in stays held back in this round.
  [[nodiscard]] bool keeps(Head& head);
  /// Whether it is to be taken out of its network.
  [[nodiscard]] bool is_late(const View& view) const noexcept;
  /// Does that; there is room for it.
  [[nodiscard]] bool take_out(const View& view);
  /// Whether a packet of the network's is lent.
  [[nodiscard]] bool& lends(Priority priority) noexcept { return lends_[static_cast<std::size_t>(priority)]; }
  [[noreturn]] void end_this_process(const char* when) const noexcept;

  Transport& network_;
  const Plan plan_;
  const NodeId self_;
  const std::string name_;
  Dice refusals_;
  Dice delays_;
  Dice reorders_;
  bool kill_before_publishing_;
  std::vector<Link> links_;  // 2 per peer met so far: [2 * peer + priority]
  KeptPackets kept_;
  bool lends_[2] = {};  // by priority
  std::uint64_t commits_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t all_free_at_ = 0;  // the round from which no packet is held back any more
  /// Of the network's own: whether it was refused is decided once.
  enum class Multicast : std::uint8_t { none, begun, let_in } multicast_ = Multicast::none;
  Multicaster* multicaster_ = nullptr;  // the network's, which was asked for last
  bool refused_ = false;  // by the dice only, since the last arm: whoever arms now may wait for that
};

}  // namespace am::faults
