#include "transports/skeleton/skeleton.hpp"

#include <algorithm>

#include "host/heavy_fence.hpp"

namespace am::skeleton {

Transport::Slot SkeletonTransport::claim(NodeId to, Priority priority, std::size_t words,
                                         std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority};
  if (to != self_ || closed_) {
    slot.status = Status::unreachable;
    return slot;
  }
  Queue& q = queue(priority);
  if (q.sent - q.released == slots) return slot;
  slot.packet = &q.images[q.sent % slots].packet;
  slot.status = Status::ok;
  slot.room = std::min(payload_bytes, impl::packet_payload_bytes);
  const std::size_t lines = impl::payload_lines(words, slot.room);
  slot.payload = slot.packet->payload(words, lines);
  slot.mark = impl::Header::make(0, 0, lines, 0).bits;
  return slot;
}

bool SkeletonTransport::has_room(NodeId to, Priority priority, std::size_t /*payload_bytes*/) noexcept {
  const Queue& q = queue(priority);
  return to != self_ || closed_ || q.sent - q.released != slots;
}

void SkeletonTransport::commit(const Slot& slot, impl::Header header) noexcept {
  // Relaxed: sender and receiver are one thread. Between two, this is the release that receive's acquire pairs with.
  slot.packet->header.store(header.bits | slot.mark, std::memory_order_relaxed);
  ++queue(slot.priority).sent;
}

Transport::View SkeletonTransport::receive(Priority priority) noexcept {
  Queue& q = queue(priority);
  if (q.sent == q.released || q.deferred) return {nullptr, {}, 0, priority};
  const impl::Packet& packet = q.images[q.released % slots].packet;
  return {&packet, packet.head(), self_, priority};
}

void SkeletonTransport::release(const View& view) noexcept { ++queue(view.priority).released; }

void SkeletonTransport::defer(const View& view) noexcept { queue(view.priority).deferred = true; }

bool SkeletonTransport::waits(Priority priority, const impl::Packet* lent) noexcept {
  const Queue& q = queue(priority);
  return q.sent - q.released > (lent != nullptr ? 1u : 0u);
}

bool SkeletonTransport::progress() noexcept {
  for (Queue& q : queues_) q.deferred = false;
  return false;
}

bool SkeletonTransport::has_come(Wanted wanted) const noexcept {
  for (const Priority priority : {Priority::low, Priority::high}) {
    const Queue& q = queues_[static_cast<std::size_t>(priority)];
    const bool asked_for = priority == Priority::high ? wanted.high : wanted.low;
    if (asked_for && !q.deferred && q.sent != q.released) return true;
  }
  return false;
}

bool SkeletonTransport::arm(Wanted wanted) noexcept {
  host::heavy_fence();
  return !has_come(wanted);
}

bool SkeletonTransport::describe(Lookout& /*lookout*/, Wanted wanted) const { return has_come(wanted); }

void SkeletonTransport::close(NodeId peer) noexcept { closed_ = closed_ || peer == self_; }

std::size_t SkeletonTransport::queued(NodeId to, Priority priority) const noexcept {
  const Queue& q = queues_[static_cast<std::size_t>(priority)];
  return to == self_ ? q.sent - q.released : 0;
}

}  // namespace am::skeleton
