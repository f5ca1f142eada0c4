#include "transports/shm/shm_transport.hpp"
#include "transports/shm/clock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <cstdio>
#include <ctime>
#include <utility>

#include "transports/shm/heavy_fence.hpp"

namespace am::shm {

ShmTransport::ShmTransport(std::shared_ptr<Segment> segment, NodeId self, std::uint32_t watched,
                           bool credit_at_once)
    : segment_(std::move(segment)),
      self_(self),
      producers_(2 * std::size_t{segment_->nodes()}),
      closed_(segment_->nodes()),
      senders_fence_(watched == impl::watch::briefly),
      inboxes_{Inbox(*segment_, self, Priority::low, watched, credit_at_once),
               Inbox(*segment_, self, Priority::high, watched, credit_at_once)},
      refusals_(2 * std::size_t{segment_->nodes()}),
      refusal_of_(2 * std::size_t{segment_->nodes()}) {
  heavy_fence_works();  // registers this process
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
  if (!segment_->commit_pair(to, self_)) {
    if (!std::exchange(told_of_no_memory_, true)) {
      char text[200];  // not by stdio, which an interrupt must not enter
      const int size = std::snprintf(text, sizeof text,
                                     "am: node %u: no memory for the rings to node %u (%zu KiB); its sends "
                                     "wait (the container's memory limit, or the size of /dev/shm)\n",
                                     self_, to, pair_stride / 1024);
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(size, 0)));
    }
    return Status::again;
  }
  segment_->connections(self_)[to / 64].fetch_or(std::uint64_t{1} << (to % 64), std::memory_order_relaxed);
  PairBlock& pair = segment_->pair(to, self_);
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
  for (std::size_t ring = 0; ring < 2 * std::size_t{segment_->nodes()}; ++ring) {
    if (producers_[ring].connected()) producers_[ring] = {};
  }
}

void ShmTransport::ring_doorbell(NodeId to, Priority priority) noexcept {
  own_fence();  // between the commit and the look at `watched`, the doorbell and the alarm: see arm
  const impl::RingControl& control = producers_[index(to, priority)].control();
  if (control.watched.load(std::memory_order_relaxed) != impl::watch::off) return;
  // Release pairs with Inbox::answer_doorbells. A bit that is set already was not answered yet, or is being answered now
  // and makes the ring hot, so that it is looked at in any case.
  std::atomic<std::uint64_t>& word = segment_->doorbells(to, priority)[self_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << (self_ % 64);
  if ((word.load(std::memory_order_relaxed) & bit) == 0) {
    word.fetch_or(bit, std::memory_order_release);
    NodeCard& card = segment_->card(to);
    card.doorbell_summary[static_cast<std::size_t>(priority)].fetch_or(std::uint64_t{1} << (self_ / 64),
                                                                       std::memory_order_release);
  }
  segment_->wake(to);
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

// The order that loses no wake-up. The one who wants to be told: every ring unwatched, the alarm set, a fence, a look at all
// rings and credits. A sender: commit, then a look at `watched`; it reads `off` (and rings, and sees the alarm), or its
// commit was visible to our look. Likewise a receiver: publish, then a look at `starved`.
//   Senders that read `on`, and receivers that publish, have no fence between the two: then ours is a heavy one, which
// leaves no third case. A node that is armed whenever it computes cannot pay for that each time: its rings are watched
// `briefly`, and its senders fence (ring_doorbell), until they have sent so much that it pays (Inbox).
bool ShmTransport::arm(Alarm alarm, Wanted wanted) noexcept {
  bool all_fence = senders_fence_ && refused_ == 0;
  if (wanted.high && inbox(Priority::high).cool_all()) all_fence = false;
  if (wanted.low && inbox(Priority::low).cool_all()) all_fence = false;
  segment_->card(self_).alarm.store(static_cast<std::uint32_t>(alarm), std::memory_order_relaxed);
  set_starved(true);
  if (all_fence) {
    own_fence();
  } else {
    heavy_fence();
  }
  const bool high = inbox(Priority::high).look_everywhere(wanted.high);
  const bool low = inbox(Priority::low).look_everywhere(wanted.low);
  if (!high && !low && !credit_came()) return true;
  disarm();
  return false;
}

void ShmTransport::disarm() noexcept {
  segment_->card(self_).alarm.store(static_cast<std::uint32_t>(Alarm::none), std::memory_order_relaxed);
  set_starved(false);
  for (; refused_ != 0; --refused_)
    refusal_of_[static_cast<std::size_t>(refusals_[refused_ - 1].ring - producers_.get())] = 0;
}

void ShmTransport::park(std::uint64_t until_ns, Wanted wanted) noexcept {
  if (!arm(Alarm::sleeper, wanted)) return;
  const std::uint64_t now = monotonic_ns();
  std::uint64_t longest_ns = until_ns > now ? until_ns - now : 0;
  constexpr std::uint64_t short_nap_ns = 1'000'000;
  if (!heavy_fence_works()) longest_ns = std::min(longest_ns, short_nap_ns);
  if (longest_ns != 0) {
    const timespec timeout = timespec_of(longest_ns);
    syscall(SYS_futex, &segment_->card(self_).alarm, FUTEX_WAIT, static_cast<std::uint32_t>(Alarm::sleeper),
            &timeout, nullptr, 0);
  }
  disarm();
}

bool ShmTransport::describe(Lookout& lookout, Wanted wanted) const {
  const bool low = inboxes_[0].describe(lookout);
  const bool high = inboxes_[1].describe(lookout);
  return (low && wanted.low) || (high && wanted.high);
}

}  // namespace am::shm
