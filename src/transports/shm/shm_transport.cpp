#include "transports/shm/shm_transport.hpp"

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

ShmTransport::ShmTransport(std::shared_ptr<Segment> segment, NodeId self)
    : segment_(std::move(segment)),
      self_(self),
      producers_(2 * std::size_t{segment_->nodes()}),
      closed_(segment_->nodes()),
      inboxes_{Inbox(*segment_, self, Priority::low), Inbox(*segment_, self, Priority::high)} {
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
      std::fprintf(
          stderr,
          "am: node %u: no memory for the rings to node %u (%zu KiB); its sends wait (the container's memory "
          "limit, or the size of /dev/shm)\n",
          self_, to, pair_stride / 1024);
    }
    return Status::again;
  }
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

void ShmTransport::ring_doorbell(NodeId to, Priority priority) noexcept {
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
  for (std::size_t i = 0; i < refused_; ++i) {
    if (refusals_[i].ring == &ring) {
      refusals_[i].lines = std::min(refusals_[i].lines, lines);
      return;
    }
  }
  if (refused_ < refusals_.size()) {
    refusals_[refused_++] = {&ring, lines};
  } else {
    refused_more_ = true;
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

// The order that loses no wake-up. The sleeper: every ring unwatched, asleep = 1, heavy fence, look at all rings and
// credits, sleep. A sender: commit, then load watched; it reads 0 (and rings, and sees asleep), or its commit was visible
// to our look: the heavy fence leaves no third case. Likewise a receiver: publish, then load starved.
void ShmTransport::park(std::uint64_t until_ns, Wanted wanted) noexcept {
  std::atomic<std::uint32_t>& asleep = segment_->card(self_).asleep;
  inbox(Priority::high).cool_all();
  inbox(Priority::low).cool_all();
  asleep.store(1, std::memory_order_relaxed);
  set_starved(true);
  heavy_fence();
  const bool high = inbox(Priority::high).look_everywhere(wanted.high);
  const bool low = inbox(Priority::low).look_everywhere(wanted.low);
  const bool credit = credit_came();
  const std::uint64_t now = monotonic_ns();
  std::uint64_t longest_ns = until_ns > now ? until_ns - now : 0;
  constexpr std::uint64_t short_nap_ns = 1'000'000;
  if (!heavy_fence_works() || refused_more_) longest_ns = std::min(longest_ns, short_nap_ns);
  if (!high && !low && !credit && longest_ns != 0) {
    const timespec timeout{static_cast<std::time_t>(longest_ns / 1'000'000'000),
                           static_cast<long>(longest_ns % 1'000'000'000)};
    syscall(SYS_futex, &asleep, FUTEX_WAIT, 1, &timeout, nullptr, 0);
  }
  asleep.store(0, std::memory_order_relaxed);
  set_starved(false);
  refused_ = 0;
  refused_more_ = false;
}

}  // namespace am::shm
