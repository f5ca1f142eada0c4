// The smallest transport that compiles, and the guide to writing another one: copy this folder, rename the class, and
// fill in the functions in the order below. It is a real network, of one node: what a node sends to itself arrives;
// everybody else is unreachable. tests/unit/transports/skeleton/skeleton_test.cpp shows how to test a transport by hand.
//
// What core relies on, and where it would notice
//   - One thread. Core calls from the node's own thread only; a transport that has threads of its own (a progress
//     thread, a completion callback) must lock between them and these functions itself.
//   - Nothing here waits, throws, or calls a handler. core/events/dispatch.cpp argues that no job stands still from
//     exactly this: a claim that waited would be the deadlock that section 3.5 of the T1 report warns of.
//   - The two priorities share no buffer that low could fill: high must get through however full low is. Two queues, two
//     windows of credits, two virtual channels; one connection for both needs credits per priority on top.
//   - Memory per peer is bounded. When it is used up, claim answers `again`, and goes on doing so until the receiver has
//     released something: that is how back-pressure reaches the sender (contract, clauses 4 and 5).
//   - Order per (peer, priority) is the order of the commits, but for what was claimed by claim_unordered. Nothing else is ordered.
//   - Packets are untrusted: the transport must not read past what came, nor say that a payload lies where it cannot
//     (payload_of, which is here as the seam has it); core checks the rest.
//   - What is optional is left out here, as the seam has it: what lies here unsent (drained); a descriptor to be woken by (wake_fd);
//     and what saves core looks at what is quiet (calm_, empty_): each progress() has to set these anew, and what is lent or was
//     deferred is there.
//   - What a network can do besides is an interface of its own, which it implements and hands out: the control lane, and word of lost
//     peers, for a network between hosts (control_lane.hpp, site.hpp); memory in which a long payload is written before it is sent
//     (payload_room.hpp); queues for unordered packets (unordered_lanes.hpp); memory of peers that it maps, or reaches without their
//     nodes (memory_reach.hpp); multicasts (multicaster.hpp); what all nodes do together (synchronizer.hpp).
//     tests/support/post_network.cpp has most of these, and no more.
//
// How to put it into use, when it works: nothing in core changes.
//   1. Give it a row in the table of networks (src/transports/kinds.cpp): its name is what AM_TRANSPORT takes.
//   2. Give it a row in the networks of the tests (tests/support/cells.hpp): the conformance suite, which has a line per clause
//      of the contract, then runs on it, plain and under AM_FAULTS.
#pragma once

#include <array>
#include <cstddef>

#include "transports/transport.hpp"

namespace am::skeleton {

class SkeletonTransport final : public Transport {
 public:
  /// First: what connects this node with the others: sockets, endpoints, registered memory. The constructor is the only
  /// function that may throw (am::Error: what, where, why, what to do). Connections to single peers are better opened
  /// by the first claim, so that a job of N nodes does not need N squared of them.
  explicit SkeletonTransport(NodeId self) noexcept : self_(self) {}

  /// For people, in reports: short and lower-case.
  [[nodiscard]] std::string_view name() const noexcept override { return "skeleton"; }

  /// Second: sending. claim finds room for a packet image in memory that the network can send from, so that words and
  /// payload are written once, in place. Core writes between claim and commit, and may also change its mind: a claim
  /// that is not followed by a commit costs nothing, and the next claim for that peer and priority gives the place anew.
  /// A payload may lie wherever the network likes to have it, and go in pieces when it is longer than that: here it lies behind
  /// the words (impl::payload_lines, Packet::payload), and takes a kilobyte at a time. See chunks.hpp for another place.
  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  /// commit sends the image off, with the header as its first word. It cannot fail: whatever may be lacking (a credit, a
  /// buffer, a connection) is claim's to find out.
  void commit(const Slot& slot, impl::Header header) noexcept override;
  /// has_room only looks: the outlet event asks in every poll.
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t /*payload_bytes*/) noexcept override;

  /// Third: receiving. receive shows the next packet where it lies; asked again, it shows the same one, until release or
  /// defer. The image is aligned to impl::line_bytes, its payload lines right behind it.
  [[nodiscard]] View receive(Priority priority) noexcept override;
  /// release is where the credit goes back to the sender. Core has copied or used everything by then.
  void release(const View& view) noexcept override;
  /// defer leaves the packet for the next round; in this round receive goes on with the other neighbours.
  void defer(const View& view) noexcept override;

  /// waits looks whether there is more than what is lent, and changes nothing: a handler may ask in the middle of a round.
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override;

  /// Fourth: what has to be done now and then: read sockets, reap completions, step routers. Begins a round. It is called
  /// in every poll, so a progress that finds nothing should cost nanoseconds.
  bool progress() noexcept override;

  /// Fifth: telling a node that does not look. Whether it sleeps or computes is core's affair: see to it that its bell is rung
  /// (host::wake, after a fence) when a packet comes whose priority is wanted, or when a claim that was answered `again` may
  /// succeed; then look once more. A ring for no reason is free; one that is lost costs its waiter up to 16 ms. A network
  /// that cannot tell may answer true only if nothing can come by itself, as here.
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override {}
  [[nodiscard]] bool still_armed(Wanted /*wanted*/) noexcept override { return true; }
  /// The same for a handler thread beside the node: words that change when something comes. Only the node itself sends here.
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;

  /// Last: a peer that is gone. Its claims answer `unreachable` from now on; what it had sent may still be received.
  void close(NodeId peer) noexcept override;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override;

 private:
  static constexpr std::size_t slots = 8;

  /// One packet image: the line of header and words, and the largest payload behind it.
  struct Image {
    impl::Packet packet;
    std::byte payload[impl::packet_payload_bytes];
  };
  static_assert(offsetof(Image, payload) == sizeof(impl::Packet),
                "Packet::payload() looks right behind the packet");

  /// A queue of bounded memory from this node to itself at one priority.
  struct Queue {
    std::array<Image, slots> images{};
    std::size_t sent = 0;      // since the start; sent - released are under way
    std::size_t released = 0;  // since the start
    bool deferred = false;     // in this round
  };
  [[nodiscard]] Queue& queue(Priority priority) noexcept {
    return queues_[static_cast<std::size_t>(priority)];
  }

  [[nodiscard]] bool has_come(Wanted wanted) const noexcept;

  const NodeId self_;
  std::array<Queue, 2> queues_{};  // by priority: low shares nothing with high
  bool closed_ = false;
};

}  // namespace am::skeleton
