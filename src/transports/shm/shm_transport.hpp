// The shared-memory network of one node: its rings to every peer, its inboxes, its sleep.
//
// Core reaches it in two ways: through the seam like any transport, and, because it is the fast one, directly: its
// Producers are the ones that Node's send fills (producers()), and Engine calls the inline functions below by their
// concrete type. Used by the owning node's thread only.
#pragma once

#include <am/impl/link.hpp>
#include <array>

#include "transports/memory_reach.hpp"
#include "transports/payload_room.hpp"
#include "transports/shm/inbox.hpp"
#include "transports/shm/lines_ahead.hpp"

namespace am::shm {

class ShmTransport final : public Transport, public PayloadRoom, public MemoryReach {
 public:
  /// `watched`, `credit_at_once`: see Inbox.
  ShmTransport(std::shared_ptr<const host::Memory> memory, NodeId self,
               std::uint32_t watched = impl::watch::on, bool credit_at_once = false);

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }

  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override;
  void commit(const Slot& slot, impl::Header header) noexcept override {
    const std::size_t link = impl::link_index(slot.to, slot.priority);
    impl::Producer& ring = producers_[link];
    header.bits |= slot.mark;
    ring.commit(slot.packet, header);
    if (const impl::Header mark{slot.mark}; mark.has(impl::flag::elsewhere)) {
      const Chunks::Name chunk = chunk_of(slot);
      Chunks& from = chunks(slot.priority);
      from.sent(chunk, ring.position());
      if (claimed_[link] == chunk) claimed_[link] = 0;
      ahead_.sent(from, slot.to, slot.room);
    }
    if (!ring.watched()) ring_doorbell(slot.to, slot.priority);
  }
  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  [[nodiscard]] Slot lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept override;
  void give_back(const Slot& lent) noexcept override { chunks(lent.priority).give_back(chunk_of(lent)); }
  [[nodiscard]] Slot claim_lent(const Slot& lent) noexcept override;

  [[nodiscard]] View receive(Priority priority) noexcept override {
    View view{nullptr, {}, 0, priority};
    view.packet = inbox(priority).receive(view.source, view.head);
    return view;
  }
  [[nodiscard]] std::optional<Payload> payload_of(const View& view) const noexcept override {
    const std::optional<Payload> payload =
        view.head.has(impl::flag::elsewhere) ? payload_in_chunk(view) : Transport::payload_of(view);
    if (payload.has_value()) fetch(*payload);
    return payload;
  }
  void release(const View& view) noexcept override {
    if (view.head.has(impl::flag::elsewhere)) {
      inbox(view.priority).release_now(view.source, 1);
    } else {
      inbox(view.priority).release(view.source, view.head.lines());
    }
  }
  /// The same for a packet that is one line and nothing else.
  void release_line(NodeId source, Priority priority) noexcept { inbox(priority).release(source, 1); }
  void defer(const View& view) noexcept override { inbox(view.priority).skip(); }
  [[nodiscard]] bool waits(Priority priority, const impl::Packet* lent) noexcept override {
    return inbox(priority).waits(lent);
  }
  bool progress() noexcept override {
    if ((++rounds_ & 63) == 0) look_after_quiet_rings();
    const View high = look(Priority::high);
    const View low = look(Priority::low);
    return high || low;
  }
  /// Begins a round of one priority, which receive() goes on with. Its first packet, if there is one.
  [[nodiscard]] View look(Priority priority) noexcept {
    View view{nullptr, {}, 0, priority};
    view.packet = inbox(priority).look(view.source, view.head);
    return view;
  }
  /// A poll found nothing: a moment to get ready for what may be sent next.
  void use_idle_moment() noexcept {
    if (ahead_.any()) [[unlikely]]
      ahead_.take_one();
  }
  /// Due every 64 rounds or so: rings that were quiet lately, and those whose doorbell was missed.
  void look_after_quiet_rings() noexcept;
  [[nodiscard]] bool arm(Wanted wanted) noexcept override;
  void disarm() noexcept override;
  [[nodiscard]] bool still_armed(Wanted wanted) noexcept override {
    return !(wanted.high && inbox(Priority::high).any_hot()) &&
           !(wanted.low && inbox(Priority::low).any_hot());
  }
  [[nodiscard]] bool describe(Lookout& lookout, Wanted wanted) const override;
  [[nodiscard]] Way way() const noexcept override { return Way::mapped; }
  [[nodiscard]] MemoryReach* memory_reach(NodeId /*peer*/) noexcept override { return this; }
  [[nodiscard]] PayloadRoom* payload_room(NodeId /*peer*/) noexcept override { return this; }
  void close(NodeId peer) noexcept override;
  /// Every claim finds a ring that is not connected, as at the beginning.
  void disconnect() noexcept;
  [[nodiscard]] std::size_t queued(NodeId to, Priority priority) const noexcept override {
    return producers_[impl::link_index(to, priority)].queued();
  }

  [[nodiscard]] const Rings& rings() const noexcept { return rings_; }
  /// The rings out, by link. Not connected until the first claim.
  [[nodiscard]] impl::Producer* producers() noexcept { return producers_.get(); }
  /// Tells a receiver that does not look at our ring that something is there. Wakes it if it sleeps.
  void ring_doorbell(NodeId to, Priority priority) noexcept;

 private:
  [[nodiscard]] Inbox& inbox(Priority priority) noexcept {
    return inboxes_[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] Chunks& chunks(Priority priority) noexcept {
    return chunks_[static_cast<std::size_t>(priority)];
  }
  static Chunks::Name chunk_of(const Slot& slot) noexcept {
    return static_cast<Chunks::Name>(impl::Header{slot.mark}.place());
  }
  [[nodiscard]] std::optional<Payload> payload_in_chunk(const View& view) const noexcept;
  /// Asks for the first lines of a payload, all at once: a handler that reads one after the other would wait for each.
  static void fetch(const Payload& payload) noexcept;
  [[nodiscard]] Status connect(NodeId to) noexcept;
  /// Fills in where the payload goes: a chunk, or `again`. False where lines have to do.
  [[nodiscard]] bool take_chunk(Slot& slot, std::size_t payload_bytes) noexcept;
  /// Fills in the packet, or `again`.
  void take_lines(Slot& slot, std::size_t lines) noexcept;
  /// Whether a claim of a chunk would not have to wait for one.
  [[nodiscard]] bool has_chunk(NodeId to, Priority priority, std::size_t bytes) noexcept;
  /// What claims on a link found no room for: the least number of lines, and the smallest chunk; 0: none was refused.
  struct Refusal {
    NodeId to;
    Priority priority;
    std::size_t lines;
    std::size_t chunk_bytes;
  };
  void remember(const Refusal& refusal) noexcept;
  void set_starved(bool starved) noexcept;
  [[nodiscard]] bool credit_came() noexcept;

  const Rings rings_;
  const NodeId self_;
  host::ZeroedArray<impl::Producer> producers_;
  host::ZeroedArray<bool> closed_;
  const bool senders_fence_;
  Inbox inboxes_[2];
  Chunks chunks_[2];
  host::ZeroedArray<Chunks::Name> claimed_;  // by link: the chunk of a slot that was not committed yet
  LinesAhead ahead_;
  std::uint32_t rounds_ = 0;
  // Claims answered `again` since the last disarm: whoever arms the node waits for their credit, too.
  host::ZeroedArray<Refusal> refusals_;          // room for every ring
  host::ZeroedArray<std::uint32_t> refusal_of_;  // by ring: 1 + its place there; 0: none
  std::size_t refused_ = 0;
  bool told_of_no_memory_ = false;
};

}  // namespace am::shm
