// The sends of one node as far as they need not wait: what goes at once, what is kept back as a row of pieces (fragments.hpp),
// which links a draft or a row holds, and whether what was refused would go now. Who waits, and polls meanwhile, is sending.cpp's
// affair; the short message's own path is inline (am/node.hpp), and comes here when it finds no line.
//
// What was sent sets nicond, what was answered `again` clears it.
//
// Used by whoever is in the node.
#pragma once

#include <am/impl/event_state.hpp>
#include <am/impl/link.hpp>
#include <am/impl/out_message.hpp>
#include <am/impl/ring.hpp>
#include <am/impl/traffic.hpp>
#include <memory_resource>
#include <optional>
#include <span>

#include "core/messages/fragments.hpp"
#include "host/board.hpp"
#include "transports/transport.hpp"

namespace am::core {

/// Bytes of payload that a message may have at most: what this machine has of memory.
[[nodiscard]] std::size_t largest_payload() noexcept;

class Sender {
 public:
  /// Hears what has consequences for the rest of the node.
  class Owner {
   public:
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;
    /// Somebody was refused, or what held up others is gone: who waits for room asks anew.
    virtual void room_is_wanted() noexcept = 0;
    /// There is a row: push() is to be called until it is gone.
    virtual void row_begins() noexcept = 0;
    /// Something lies in the ring to a node that does not watch it.
    virtual void ring_doorbell(NodeId to, Priority priority) noexcept = 0;
  };

  struct Place {
    const host::Board& board;
    NodeId self = 0;
    Transport& network;
    impl::Producer* rings = nullptr;  ///< that Node's send fills itself, by link; null: none
    bool counts_unlinked = true;      ///< refusals of peers that shared memory has no rings to yet
    std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  };

  /// All that `place` names, and `owner`, outlive this.
  Sender(const Place& place, Owner& owner) : place_(place), owner_(owner), outgoing_(place.memory) {}

  /// Before the first send: where it is counted, and the events that have nicond.
  void attach(impl::Traffic* traffic, impl::EventState& events) noexcept {
    traffic_ = traffic;
    events_ = &events;
  }

  /// Sends a message, or answers again | unreachable | too_big | no_such_node. Of a payload that goes in pieces it keeps a copy.
  Status try_send(const impl::OutMessage& message) noexcept;
  /// Words alone to all of these by one multicast, or to nobody: where shared memory has a line at hand for each. False: it has not.
  bool try_send_lines(const impl::OutMessage& message, std::span<const NodeId> members) noexcept;
  /// The same for a payload that goes at once; none when it has to go in pieces: then begin_row.
  std::optional<Status> try_send_whole(const impl::OutMessage& message) noexcept;

  /// The row of a caller who waits until push() has sent it, or hands it over.
  void begin_row(Row& row);
  /// The whole of it was sent.
  void end_row(const Row& row) noexcept { count_sent(row.message()); }
  /// The caller waits no longer, and its bytes go away: from now on the row goes by itself, from a copy, if it has begun; else it
  /// is as if it had never been.
  void hand_over(Row& row);
  /// Sends a row that goes by itself, on a link that nothing holds. Its payload lies in `bytes`, which others may need, too.
  void start_row(const impl::OutMessage& message, const SharedBytes& bytes) noexcept;
  /// Sends rows on. True when something moved.
  bool push();
  [[nodiscard]] bool has_rows() const noexcept { return outgoing_.has_rows(); }
  /// No row and no draft.
  [[nodiscard]] bool idle() const noexcept { return outgoing_.empty(); }

  /// Takes note of an answer `again`, which every send here does itself.
  Status refused(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
    return refused({true, to, payload_bytes}, priority);
  }

  // drafts, multicasts
  /// As Transport::claim. Who gets no slot in the end is to say so (refused).
  Transport::Slot claim(const impl::OutMessage& message, std::size_t payload_bytes) noexcept;
  void commit(const Transport::Slot& slot, const impl::OutMessage& message) noexcept;
  /// Nothing else goes on the slot's link until drop(), which comes also after commit().
  void hold(const Transport::Slot& slot) { reserve(slot.to, slot.priority, true); }
  void drop(const Transport::Slot& slot) noexcept;
  Status try_send_lent(const Transport::Slot& lent, const impl::OutMessage& message) noexcept;

  /// Whether the last send of a priority that was refused would find room now.
  [[nodiscard]] bool available(Priority priority) noexcept;

 private:
  struct Refused {
    bool active = false;
    NodeId to = 0;
    std::size_t payload_bytes = 0;
    bool unordered = false;
  };

  Status refused(const Refused& send, Priority priority) noexcept;
  Status refused(const impl::OutMessage& message) noexcept {
    return refused({true, message.to, message.payload.size(), may_overtake(message)}, message.priority);
  }
  [[nodiscard]] bool has_room(const Refused& send, Priority priority) noexcept;
  [[nodiscard]] static bool may_overtake(const impl::OutMessage& message) noexcept {
    return message.unordered && message.payload.size() <= impl::packet_payload_bytes;
  }
  [[nodiscard]] Transport::Slot claim_whole(const impl::OutMessage& message) noexcept;
  Status keep_row(const impl::OutMessage& message) noexcept;
  void count_sent(const impl::OutMessage& message) noexcept;
  void reserve(NodeId to, Priority priority, bool reserved);
  void reserve_line(NodeId to, Priority priority, bool reserved) noexcept;
  [[nodiscard]] impl::Traffic& traffic(NodeId to, Priority priority) const noexcept {
    return traffic_[impl::link_index(to, priority)];
  }

  const Place place_;
  Owner& owner_;
  impl::Traffic* traffic_ = nullptr;
  impl::EventState* events_ = nullptr;
  Outgoing outgoing_;
  Refused refused_[2];  // by priority: the last send that was answered `again`, until there is room
};

}  // namespace am::core
