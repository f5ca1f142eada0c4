#include "transports/shm/shm_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <cstdio>
#include <utility>

#include "host/heavy_fence.hpp"

namespace am::shm {

ShmTransport::ShmTransport(std::shared_ptr<const host::Memory> memory, NodeId self, std::uint32_t watched,
                           bool credit_at_once)
    : rings_(std::move(memory)),
      self_(self),
      producers_(2 * std::size_t{rings_.nodes()}),
      closed_(rings_.nodes()),
      senders_fence_(watched == impl::watch::briefly),
      inboxes_{Inbox(rings_, self, Priority::low, watched, credit_at_once),
               Inbox(rings_, self, Priority::high, watched, credit_at_once)},
      refusals_(2 * std::size_t{rings_.nodes()}),
      refusal_of_(2 * std::size_t{rings_.nodes()}) {
  host::heavy_fence_works();  // registers this process
  if (!rings_.commit_node(self)) {
    throw Error("join the job", "no memory for the doorbells of node " + std::to_string(self),
                host::SharedFile::more_room);
  }
}

Transport::Slot ShmTransport::claim(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority};
  if (payload_bytes > impl::packet_payload_bytes) {
    slot.status = Status::too_big;
    return slot;
  }
  impl::Producer& ring = producers_[index(to, priority)];
  if (!ring.connected()) [[unlikely]] {
    slot.status = connect(to);
    if (slot.status != Status::ok) return slot;
  }
  const std::size_t lines = 1 + impl::lines_for(payload_bytes);
  slot.packet = ring.claim(lines);
  slot.status = slot.packet != nullptr ? Status::ok : Status::again;
  if (slot.packet == nullptr) remember(ring, lines);
  return slot;
}

Status ShmTransport::connect(NodeId to) noexcept {
  if (closed_[to]) return Status::unreachable;
  if (!rings_.commit_pair(to, self_)) {
    if (!std::exchange(told_of_no_memory_, true)) {
      char text[200];  // not by stdio, which an interrupt must not enter
      const int size = std::snprintf(text, sizeof text,
                                     "am: node %u: no memory for the rings to node %u (%zu KiB); its sends "
                                     "wait (the container's memory limit, or the size of /dev/shm)\n",
                                     self_, to, sizeof(PairBlock) / 1024);
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(size, 0)));
    }
    return Status::again;
  }
  rings_.board().set_linked(self_, to);
  PairBlock& pair = rings_.pair(to, self_);
  producers_[index(to, Priority::low)].connect(pair.low, low_lines, &pair.control[0]);
  producers_[index(to, Priority::high)].connect(pair.high, high_lines, &pair.control[1]);
  return Status::ok;
}

void ShmTransport::close(NodeId peer) noexcept {
  closed_[peer] = true;
  producers_[index(peer, Priority::low)] = {};
  producers_[index(peer, Priority::high)] = {};
}

void ShmTransport::disconnect() noexcept {
  for (std::size_t ring = 0; ring < 2 * std::size_t{rings_.nodes()}; ++ring) {
    if (producers_[ring].connected()) producers_[ring] = {};
  }
}

void ShmTransport::ring_doorbell(NodeId to, Priority priority) noexcept {
  host::own_fence();  // between the commit and the look at `watched`, the doorbell and the alarm: see arm
  const impl::RingControl& control = producers_[index(to, priority)].control();
  if (control.watched.load(std::memory_order_relaxed) != impl::watch::off) return;
  // Release pairs with Inbox::answer_doorbells. A bit that is set already was not answered yet, or is being answered now
  // and makes the ring hot, so that it is looked at in any case.
  Doorbells& bells = rings_.doorbells(to);
  const auto p = static_cast<std::size_t>(priority);
  std::atomic<std::uint64_t>& word = bells.words[p][self_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << (self_ % 64);
  if ((word.load(std::memory_order_relaxed) & bit) == 0) {
    word.fetch_or(bit, std::memory_order_release);
    bells.summary[p].fetch_or(std::uint64_t{1} << (self_ / 64), std::memory_order_release);
  }
  host::wake(rings_.board(), to);
}

void ShmTransport::look_after_quiet_rings() noexcept {
  for (Inbox& inbox : inboxes_) {
    inbox.rotate();
    inbox.look_after_idle();
  }
}

void ShmTransport::remember(impl::Producer& ring, std::size_t lines) noexcept {
  std::uint32_t& place = refusal_of_[static_cast<std::size_t>(&ring - producers_.get())];
  if (place == 0) {
    refusals_[refused_] = {&ring, lines};
    place = static_cast<std::uint32_t>(++refused_);
  } else {
    std::size_t& least = refusals_[place - 1].lines;
    least = std::min(least, lines);
  }
}

void ShmTransport::set_starved(bool starved) noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    impl::Producer& ring = *refusals_[i].ring;
    if (ring.connected()) ring.control().starved.store(starved ? 1 : 0, std::memory_order_relaxed);
  }
}

bool ShmTransport::credit_came() noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    if (refusals_[i].ring->has_room(refusals_[i].lines)) return true;
  }
  return false;
}

// The order that loses no wake-up. The one who wants to be told has set its bell; then every ring unwatched, a fence, a look at
// all rings and credits. A sender: commit, then a look at `watched`; it reads `off` (and rings, and sees the alarm), or its
// commit was visible to our look. Likewise a receiver: publish, then a look at `starved`.
//   Senders that read `on`, and receivers that publish, have no fence between the two: then ours is a heavy one, which
// leaves no third case. A node that is armed whenever it computes cannot pay for that each time: its rings are watched
// `briefly`, and its senders fence (ring_doorbell), until they have sent so much that it pays (Inbox).
bool ShmTransport::arm(Wanted wanted) noexcept {
  bool all_fence = senders_fence_ && refused_ == 0;
  if (wanted.high && inbox(Priority::high).cool_all()) all_fence = false;
  if (wanted.low && inbox(Priority::low).cool_all()) all_fence = false;
  set_starved(true);
  if (all_fence) {
    host::own_fence();
  } else {
    host::heavy_fence();
  }
  const bool high = inbox(Priority::high).look_everywhere(wanted.high);
  const bool low = inbox(Priority::low).look_everywhere(wanted.low);
  if (!high && !low && !credit_came()) return true;
  disarm();
  return false;
}

void ShmTransport::disarm() noexcept {
  set_starved(false);
  for (; refused_ != 0; --refused_)
    refusal_of_[static_cast<std::size_t>(refusals_[refused_ - 1].ring - producers_.get())] = 0;
}

bool ShmTransport::describe(Lookout& lookout, Wanted wanted) const {
  const bool low = inboxes_[0].describe(lookout);
  const bool high = inboxes_[1].describe(lookout);
  return (low && wanted.low) || (high && wanted.high);
}

}  // namespace am::shm
