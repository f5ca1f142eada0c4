// The seam between core and a network (design section 5): what every transport does. What only some can do is an interface of its
// own, which a transport hands out or not (the end of the class); without it core makes do with messages. A function with a body here
// may be left out.
//
// Core calls from the node's own thread; no call waits, none runs a handler, none throws. Core owns sleeping: a
// transport rings the node's bell (host/bell.hpp) when it was asked to.
//
// A packet image (am/impl/packet.hpp) is written in place: claim gives the room, the caller fills words and payload,
// commit publishes. It is read in place: receive lends it, release takes it back and returns the credit. Where the payload
// lies, and how much of it goes at once, is the network's affair.
//
// The smallest transport that compiles is src/transports/skeleton: the porting guide.
#pragma once

#include <am/impl/copy.hpp>
#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transports/lookout.hpp"

namespace am {

class ControlLane;
class MemoryReach;
class Multicaster;
class Pathways;
class PayloadRoom;
class Synchronizer;
class UnorderedLanes;

class Transport {
 public:
  /// Room for one packet. `packet` is null unless status is ok.
  struct Slot {
    impl::Packet* packet = nullptr;
    Status status = Status::again;
    NodeId to = 0;
    Priority priority = Priority::low;
    std::byte* payload = nullptr;  ///< where it may be written; null: fill() takes it. Never null up to 1 KiB
    std::size_t room = 0;          ///< for so much of it
    std::uint64_t mark = 0;        ///< the network's: header bits that say where the payload lies
    std::uint32_t lane = 0;        ///< the network's own
  };
  /// A packet that came, lent until release. `head` is its header, read once: who writes there may be at work still, so what
  /// was checked is not to be read again. `source` sent it: of a multicast that is who passed it on.
  struct View {
    const impl::Packet* packet = nullptr;
    impl::Header head{};
    NodeId source = 0;
    Priority priority = Priority::low;
    std::uint32_t lane = 0;  ///< the network's own: which of its queues it is in
    explicit operator bool() const noexcept { return packet != nullptr; }
  };

  /// Which arrivals are worth waking up for: those whose events may run now.
  struct Wanted {
    bool high = true;
    bool low = true;
  };

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Room for a packet with so many words and `payload_bytes` to `to`, or again | unreachable. Never waits. Up to
  /// impl::packet_payload_bytes there is room for all of the payload; of a longer one maybe for a part only, which is no
  /// shorter than that: it goes in pieces then. `again` means that something that was sent on this very link has to be released
  /// first: no link waits for another. A slot that is not committed is forgotten by the next claim for the same peer and
  /// priority. Packets between two nodes at one priority arrive in the order of their commits, but for unordered ones; high is
  /// never held up by low.
  [[nodiscard]] virtual Slot claim(NodeId to, Priority priority, std::size_t words,
                                   std::size_t payload_bytes) noexcept = 0;
  /// Puts a payload into the slot, no longer than its room: whoever has written it to slot.payload does without. A network may
  /// leave it where it is until commit, which follows at once.
  virtual void fill(const Slot& slot, Payload payload) noexcept {
    if (!payload.empty()) impl::copy_bytes(slot.payload, payload.data(), payload.size());
  }
  /// Publishes the slot with `header` (without lap and place), its payload as far as packet->payload_bytes says. Cannot fail:
  /// what claim accepted is delivered exactly once unless the peer fails.
  virtual void commit(const Slot& slot, impl::Header header) noexcept = 0;
  /// Whether claim would find room for a packet with such a payload, or for a piece of it, or say unreachable. Claims nothing;
  /// when it is not so, arm() asks to be told of that room, as after a refused claim.
  [[nodiscard]] virtual bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept = 0;
  /// The next packet of a priority, from any neighbour, or none. The same neighbour's next packet comes only after this
  /// one was released; that of a deferred neighbour only in the next round. (Where unordered packets have a lane of their own, each
  /// lane is a neighbour as far as that goes.)
  [[nodiscard]] virtual View receive(Priority priority) noexcept = 0;
  /// The payload of a packet that has one (impl::flag::payload), valid until release; none when what its sender says of it
  /// cannot be true. Asked once: the sender may be at work still.
  [[nodiscard]] virtual std::optional<Payload> payload_of(const View& view) const noexcept {
    const std::size_t bytes = impl::read_once(view.packet->payload_bytes);
    if (view.head.has(impl::flag::elsewhere) || !impl::payload_fits(view.head, bytes)) return std::nullopt;
    return Payload(view.packet->payload(view.head.words(), view.head.place()), bytes);
  }
  /// Gives the packet's place, and its payload's, back to its sender.
  virtual void release(const View& view) noexcept = 0;
  /// Leaves the packet where it is, to be received again in the next round: its neighbour's others of that lane wait behind it.
  virtual void defer(const View& view) noexcept = 0;

  /// Whether a packet of a priority has come besides `lent`, which is the one that receive gave last and that was not
  /// released yet (null: none is lent). Only looks: what receive gives next, and in which order, stays as it is.
  [[nodiscard]] virtual bool waits(Priority priority, const impl::Packet* lent) noexcept = 0;

  /// Begins a round: moves what can be moved (sockets, completions, routers), takes note of new arrivals, tells the site's
  /// listener what it is to hear. Returns whether anything was done.
  virtual bool progress() noexcept = 0;
  /// Sends off what was committed so far, for a network that gathers it: a poll has run what it found.
  virtual void flush() noexcept {}
  /// Whether all that was committed or published has left this node. Asked before the node leaves the job, which makes
  /// progress until it is so.
  [[nodiscard]] virtual bool drained() const noexcept { return true; }
  /// The same for what was published alone (ControlLane).
  [[nodiscard]] virtual bool published() const noexcept { return true; }
  /// Asks that the node's bell, which is set, be rung once something that is wanted may have come, or a claim that was answered
  /// `again` may succeed. What is lent, was deferred or is not wanted rings nobody; for no reason it may ring at any time.
  /// False, and nothing is asked for, when it may be there already. Passes a fence that orders what stood before the call
  /// against looks after it, as host/bell.hpp wants it. Safe in a signal handler, as all the others are that it interrupts
  /// nothing of.
  [[nodiscard]] virtual bool arm(Wanted wanted) noexcept = 0;
  /// Takes back what was asked for. Who was about to ring may still do so.
  virtual void disarm() noexcept = 0;
  /// Whether what arm() was asked for still holds, as far as this node itself may have changed it since: it looks at what came.
  [[nodiscard]] virtual bool still_armed(Wanted wanted) noexcept = 0;
  /// Where a thread that is not in the node sees that something may have come. True when something that is wanted has.
  [[nodiscard]] virtual bool describe(Lookout& lookout, Wanted wanted) const = 0;
  /// A descriptor by which poll(2) finds what arm() asks to be told of, for a network that cannot ring itself: readable, while
  /// the node is armed, once it would have to ring. Core has it watched, and rings. -1: none.
  [[nodiscard]] virtual int wake_fd() const noexcept { return -1; }
  /// Packets that have come are kept inside, and receive will give them only in later rounds.
  [[nodiscard]] virtual bool holds_back() const noexcept { return false; }

  /// The peer is dead or has left: claims answer unreachable from now on. What it sent before may still be received.
  virtual void close(NodeId peer) noexcept = 0;
  /// How much of this node's the peer has not released yet, in packets or what the network cuts them into. For reports.
  [[nodiscard]] virtual std::size_t queued(NodeId to, Priority priority) const noexcept = 0;
  /// What leads to a node of another host, for people: "TCP by eth0 to 10.0.0.2". Before anything is sent there.
  [[nodiscard]] virtual std::string way_to(NodeId /*peer*/) const { return std::string(name()); }

  // What it can do besides, to that peer. Null: it cannot. The same throughout.

  /// Between hosts, always.
  [[nodiscard]] virtual ControlLane* control_lane(NodeId /*peer*/) noexcept { return nullptr; }
  /// Without it puts and gets are messages.
  [[nodiscard]] virtual MemoryReach* memory_reach(NodeId /*peer*/) noexcept { return nullptr; }
  /// Without it a draft of a long payload is memory of core's, which is copied.
  [[nodiscard]] virtual PayloadRoom* payload_room(NodeId /*peer*/) noexcept { return nullptr; }
  /// Without it unordered packets are claimed as all others.
  [[nodiscard]] virtual UnorderedLanes* unordered_lanes(NodeId /*peer*/) noexcept { return nullptr; }
  /// Null: streams to it need none.
  [[nodiscard]] virtual Pathways* pathways(NodeId /*peer*/) noexcept { return nullptr; }
  /// From that node to those, which ascend: the same on every node. Without it multicasts go down a tree.
  [[nodiscard]] virtual Multicaster* multicaster(NodeId /*from*/,
                                                 std::span<const NodeId> /*members*/) noexcept {
    return nullptr;
  }
  /// Of all nodes of the job, on each of them. Without it barriers are counted on the board, and collectives are messages.
  [[nodiscard]] virtual Synchronizer* synchronizer() noexcept { return nullptr; }

  /// It has nothing to do, and had nothing lately: calls of progress() now and then will do.
  [[nodiscard]] bool is_calm() const noexcept { return calm_; }
  /// The last progress() has left nothing that receive() might give.
  [[nodiscard]] bool is_empty() const noexcept { return empty_; }

 protected:
  bool calm_ = false;   // a network that never is so is looked at in every poll
  bool empty_ = false;  // a network that never says so is asked at both priorities in every poll
};

}  // namespace am
