#include "transports/shm/ring_queues.hpp"

namespace am {

std::unique_ptr<Queues> queues_of(std::shared_ptr<const host::Memory> memory) {
  return std::make_unique<shm::RingQueues>(std::move(memory));
}

namespace shm {

namespace {

Queues::Content look_into(const impl::Packet* lines, std::size_t capacity,
                          const impl::RingControl& control) noexcept {
  const std::uint64_t released = control.released.load(std::memory_order_acquire);
  std::size_t at = released % capacity;
  auto lap = static_cast<std::uint16_t>(1 + (released / capacity) % 0xffff);
  Queues::Content content{.capacity = capacity};
  while (content.lines < capacity) {
    const impl::Header header{lines[at].header.load(std::memory_order_acquire)};
    if (header.lap() != lap || header.lines() > capacity - at) break;
    if ((header.flags() & impl::flag::pad) == 0 && content.packets++ == 0) content.first = header.handler();
    content.lines += header.lines();
    at += header.lines();
    if (at == capacity) {
      at = 0;
      if (++lap == 0) lap = 1;
    }
  }
  return content;
}

}  // namespace

Queues::Content RingQueues::content(NodeId from, NodeId to, Priority priority) const noexcept {
  const PairBlock& pair = rings_.pair(to, from);
  if (priority == Priority::low) return look_into(pair.low, low_lines, pair.control[0]);
  return look_into(pair.high, high_lines, pair.control[1]);
}

std::uint64_t RingQueues::taken(NodeId from, NodeId to, Priority priority) const noexcept {
  const impl::RingControl& control = rings_.pair(to, from).control[static_cast<std::size_t>(priority)];
  return control.released.load(std::memory_order_relaxed);
}

}  // namespace shm
}  // namespace am
