#include "transports/skeleton/skeleton.hpp"
#include "transports/shm/clock.hpp"

#include <cerrno>
#include <ctime>

namespace am::skeleton {

Transport::Slot SkeletonTransport::claim(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority};
  if (to != self_ || closed_) {
    slot.status = Status::unreachable;
    return slot;
  }
  if (payload_bytes > impl::packet_payload_bytes) {
    slot.status = Status::too_big;
    return slot;
  }
  Queue& q = queue(priority);
  if (q.sent - q.released == slots) return slot;
  slot.packet = &q.images[q.sent % slots].packet;
  slot.status = Status::ok;
  return slot;
}

void SkeletonTransport::commit(const Slot& slot, impl::Header header) noexcept {
  // Relaxed: sender and receiver are one thread. Between two, this is the release that receive's acquire pairs with.
  slot.packet->header.store(header.bits, std::memory_order_relaxed);
  ++queue(slot.priority).sent;
}

Transport::View SkeletonTransport::receive(Priority priority) noexcept {
  Queue& q = queue(priority);
  if (q.sent == q.released || q.deferred) return {nullptr, 0, priority};
  return {&q.images[q.released % slots].packet, self_, priority};
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

bool SkeletonTransport::arm(Alarm /*alarm*/, Wanted wanted) noexcept {
  for (const Priority priority : {Priority::low, Priority::high}) {
    const Queue& q = queue(priority);
    const bool asked_for = priority == Priority::high ? wanted.high : wanted.low;
    if (asked_for && !q.deferred && q.sent != q.released) return false;
  }
  return true;
}

void SkeletonTransport::park(std::uint64_t until_ns, Wanted wanted) noexcept {
  if (!arm(Alarm::sleeper, wanted)) return;
  // Nobody else sends: nothing can come before the time is up.
  const timespec until = shm::timespec_of(until_ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

void SkeletonTransport::close(NodeId peer) noexcept { closed_ = closed_ || peer == self_; }

std::size_t SkeletonTransport::queued(NodeId to, Priority priority) const noexcept {
  const Queue& q = queues_[static_cast<std::size_t>(priority)];
  return to == self_ ? q.sent - q.released : 0;
}

}  // namespace am::skeleton
