#include "core/messages/sender.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/messages/members.hpp"
#include "core/reports/fatal.hpp"
#include "transports/payload_room.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::core {

namespace {
std::size_t bytes_of_machine() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
                                     : std::size_t{1} << 34;
}
constinit std::atomic<std::size_t> machine_bytes{0};  // 0: not asked yet. A signal handler may ask

/// What the receiver counts, too: without the list that a multicast travels with.
std::uint64_t bytes_of_program(const impl::OutMessage& message) noexcept {
  Payload payload = message.payload;
  Members list;
  if ((message.flags & impl::flag::multicast) != 0) static_cast<void>(split(payload, list));
  return message.bytes() - (message.payload.size() - payload.size());
}
}  // namespace

std::size_t largest_payload() noexcept {
  if (machine_bytes.load(std::memory_order_relaxed) == 0)
    machine_bytes.store(bytes_of_machine(), std::memory_order_relaxed);
  return machine_bytes.load(std::memory_order_relaxed);
}

void Sender::count_sent(const impl::OutMessage& message) noexcept {
  impl::Traffic& counts = traffic(message.to, message.priority);
  impl::count(counts.sent_messages);
  impl::count(counts.sent_bytes, bytes_of_program(message));
  events_->nicond = true;
}

Status Sender::refused(const Refused& send, Priority priority) noexcept {
  // No rings yet: no memory for them, nor for counting that; or a fault plan's refusal.
  if (place_.counts_unlinked || place_.board.is_linked(place_.self, send.to))
    impl::count(traffic(send.to, priority).again);
  refused_[static_cast<std::size_t>(priority)] = send;
  owner_.room_is_wanted();
  events_->nicond = false;
  return Status::again;
}

bool Sender::available(Priority priority) noexcept {
  Refused& refused = refused_[static_cast<std::size_t>(priority)];
  if (refused.active && !outgoing_.busy(refused.to, priority) && has_room(refused, priority))
    refused.active = false;
  return !refused.active;
}

bool Sender::has_room(const Refused& send, Priority priority) noexcept {
  UnorderedLanes* const lanes = send.unordered ? place_.network.unordered_lanes(send.to) : nullptr;
  return lanes != nullptr ? lanes->has_room_unordered(send.to, priority, send.payload_bytes)
                          : place_.network.has_room(send.to, priority, send.payload_bytes);
}

void Sender::reserve(NodeId to, Priority priority, bool reserved) {
  if (reserved) {
    outgoing_.begin(to, priority);
  } else {
    outgoing_.end(to, priority);
  }
  reserve_line(to, priority, reserved);
}

/// Keeps the inline path, which does not ask outgoing_, off a link that is held.
void Sender::reserve_line(NodeId to, Priority priority, bool reserved) noexcept {
  if (place_.rings != nullptr) place_.rings[impl::link_index(to, priority)].reserve(reserved);
}

// -- what goes at once ------------------------------------------------------------------------------------------------

Transport::Slot Sender::claim_whole(const impl::OutMessage& message) noexcept {
  const std::size_t bytes = message.payload.size();
  UnorderedLanes* const lanes = may_overtake(message) ? place_.network.unordered_lanes(message.to) : nullptr;
  return lanes != nullptr ? lanes->claim_unordered(message.to, message.priority, message.words, bytes)
                          : place_.network.claim(message.to, message.priority, message.words, bytes);
}

/// An unordered one waits, too, while its link is held: most networks have one place for both, and its claim would take that of a
/// draft away.
std::optional<Status> Sender::try_send_whole(const impl::OutMessage& message) noexcept {
  if (outgoing_.busy(message.to, message.priority)) return refused(message);
  if (message.payload.size() > impl::packet_payload_bytes && message.payload.size() > largest_payload())
    return Status::too_big;
  const Transport::Slot slot = claim_whole(message);
  if (slot.status == Status::again) return refused(message);
  if (slot.status != Status::ok) return slot.status;
  if (slot.room < message.payload.size()) return std::nullopt;
  place_.network.fill(slot, message.payload);
  commit(slot, message);
  return Status::ok;
}

Status Sender::try_send(const impl::OutMessage& message) noexcept {
  if (message.to >= place_.board.nodes()) return Status::no_such_node;
  const std::optional<Status> whole = try_send_whole(message);
  return whole ? *whole : keep_row(message);
}

bool Sender::try_send_lines(const impl::OutMessage& message, std::span<const NodeId> members) noexcept {
  if (place_.rings == nullptr) return false;
  const auto ring_to = [&](NodeId to) -> impl::Producer& {
    return place_.rings[impl::link_index(to, message.priority)];
  };
  const auto line_of = [](impl::Producer& ring) {
    impl::Packet* const line = ring.claim_line();
    return line != nullptr ? line : ring.claim_unless_reserved(1);
  };
  const auto is_full = [&](NodeId to) { return line_of(ring_to(to)) == nullptr; };
  if (std::ranges::any_of(members, is_full)) return false;
  const impl::Header header = impl::Header::make(message.handler, message.words, 0, impl::flag::multicast);
  for (const NodeId to : members) {
    impl::Producer& ring = ring_to(to);
    impl::Packet& packet = *line_of(ring);
    packet.origin = message.origin;
    packet.payload_bytes = 0;
    std::memcpy(packet.words, message.word, sizeof packet.words);
    ring.commit(&packet, header);
    impl::Traffic& counts = traffic(to, message.priority);
    impl::count(counts.sent_messages);
    impl::count(counts.sent_bytes, message.words * sizeof message.word[0]);
    if (!ring.watched()) owner_.ring_doorbell(to, message.priority);
  }
  events_->nicond = true;
  return true;
}

// -- rows -------------------------------------------------------------------------------------------------------------

/// A sender that may not wait leaves a copy behind as soon as the network has taken the first piece.
Status Sender::keep_row(const impl::OutMessage& message) noexcept {
  EventBytes copy = try_event_bytes(*place_.memory, message.payload.size());
  if (copy == nullptr) return refused(message);
  std::memcpy(copy.get(), message.payload.data(), message.payload.size());
  impl::OutMessage copied = message;
  copied.payload = Payload(copy.get(), message.payload.size());
  Row row(copied);
  const Status status = row.push(place_.network);
  if (status == Status::again) {
    if (row.sent() == 0) return refused(message);
    reserve_line(message.to, message.priority, true);
    outgoing_.keep(std::move(copy), row);
    owner_.row_begins();
  }
  count_sent(message);
  return Status::ok;
}

void Sender::start_row(const impl::OutMessage& message, const SharedBytes& bytes) noexcept {
  Row row(message);
  if (row.push(place_.network) == Status::again) {
    reserve_line(message.to, message.priority, true);
    outgoing_.keep_shared(bytes, row);
    owner_.row_begins();
  }
  count_sent(message);
}

/// On the link's list while its sender waits: so handlers that run meanwhile, and wait behind it, send it on.
void Sender::begin_row(Row& row) {
  outgoing_.lend(row);
  reserve_line(row.message().to, row.message().priority, true);
  owner_.row_begins();
}

void Sender::hand_over(Row& row) {
  const impl::OutMessage& message = row.message();
  if (row.status() != Status::again) return;
  if (row.sent() == 0) return reserve(message.to, message.priority, false);
  EventBytes copy = try_event_bytes(*place_.memory, message.payload.size());
  if (copy == nullptr)
    give_up(place_.self, "no memory to go on with a message that a handler's exception interrupted");
  std::memcpy(copy.get(), message.payload.data(), message.payload.size());
  outgoing_.keep(std::move(copy), row);
  owner_.row_begins();
  count_sent(message);
}

bool Sender::push() {
  return outgoing_.push(place_.network,
                        [this](NodeId to, Priority priority) { reserve_line(to, priority, false); });
}

// -- drafts -----------------------------------------------------------------------------------------------------------

Transport::Slot Sender::claim(const impl::OutMessage& message, std::size_t payload_bytes) noexcept {
  if (outgoing_.busy(message.to, message.priority))
    return {nullptr, Status::again, message.to, message.priority};
  return place_.network.claim(message.to, message.priority, message.words, payload_bytes);
}

void Sender::commit(const Transport::Slot& slot, const impl::OutMessage& message) noexcept {
  commit_message(place_.network, slot, message, message.payload.size());
  count_sent(message);
}

void Sender::drop(const Transport::Slot& slot) noexcept {
  reserve(slot.to, slot.priority, false);
  owner_.room_is_wanted();  // who was refused behind the draft has claimed nothing yet
}

Status Sender::try_send_lent(const Transport::Slot& lent, const impl::OutMessage& message) noexcept {
  if (outgoing_.busy(lent.to, lent.priority)) return refused(lent.to, lent.priority, 0);
  const Transport::Slot slot = place_.network.payload_room(lent.to)->claim_lent(lent);
  if (slot.status == Status::again) return refused(lent.to, lent.priority, 0);
  if (slot.status == Status::ok) commit(slot, message);
  return slot.status;
}

}  // namespace am::core
