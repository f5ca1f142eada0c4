#include "transports/shm/shm_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <cstdio>
#include <utility>

#include "host/heavy_fence.hpp"

namespace am::shm {

namespace {
/// Of two numbers of which 0 stands for none.
constexpr std::size_t least_of(std::size_t a, std::size_t b) noexcept {
  return a == 0 || b == 0 ? a + b : std::min(a, b);
}
}  // namespace

ShmTransport::ShmTransport(std::shared_ptr<const host::Memory> memory, NodeId self, std::uint32_t watched,
                           bool credit_at_once)
    : rings_(std::move(memory)),
      self_(self),
      producers_(impl::link_count(rings_.nodes())),
      closed_(rings_.nodes()),
      senders_fence_(watched == impl::watch::briefly),
      inboxes_{Inbox(rings_, self, Priority::low, watched, credit_at_once),
               Inbox(rings_, self, Priority::high, watched, credit_at_once)},
      chunks_{Chunks(rings_, self, Priority::low), Chunks(rings_, self, Priority::high)},
      claimed_(impl::link_count(rings_.nodes())),
      refusals_(impl::link_count(rings_.nodes())),
      refusal_of_(impl::link_count(rings_.nodes())) {
  host::heavy_fence_works();  // registers this process
  if (!rings_.commit_node(self)) {
    throw Error("join the job", "no memory for the doorbells of node " + std::to_string(self),
                host::SharedFile::more_room);
  }
}

Transport::Slot ShmTransport::claim(NodeId to, Priority priority, std::size_t words,
                                    std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority};
  const std::size_t link = impl::link_index(to, priority);
  if (!producers_[link].connected()) [[unlikely]] {
    slot.status = connect(to);
    if (slot.status != Status::ok) return slot;
  }
  if (Chunks::Name& claimed = claimed_[link]; claimed != 0)
    chunks(priority).give_back(std::exchange(claimed, 0));
  if (payload_bytes > impl::packet_payload_bytes && take_chunk(slot, payload_bytes)) {
    if (slot.payload == nullptr) return slot;
    take_lines(slot, 1);
    if (slot.status == Status::ok) {
      claimed_[link] = chunk_of(slot);
    } else {
      chunks(priority).give_back(chunk_of(slot));
    }
    return slot;
  }
  slot.room = std::min(payload_bytes, impl::packet_payload_bytes);
  const std::size_t lines = impl::payload_lines(words, slot.room);
  take_lines(slot, 1 + lines);
  if (slot.packet != nullptr) slot.payload = slot.packet->payload(words, lines);
  slot.mark = impl::Header::make(0, 0, lines, 0).bits;
  return slot;
}

void ShmTransport::take_lines(Slot& slot, std::size_t lines) noexcept {
  impl::Producer& ring = producers_[impl::link_index(slot.to, slot.priority)];
  slot.packet = ring.claim(lines);
  slot.status = slot.packet != nullptr ? Status::ok : Status::again;
  if (slot.packet == nullptr) remember({slot.to, slot.priority, lines, 0});
}

bool ShmTransport::take_chunk(Slot& slot, std::size_t payload_bytes) noexcept {
  slot.room = Chunks::bytes_for(payload_bytes);
  Chunks& from = chunks(slot.priority);
  const Chunks::Name chunk = from.take(slot.to, slot.room);
  if (chunk != 0) {
    slot.payload = from.at(chunk);
    slot.mark = impl::Header::make(0, 0, chunk, impl::flag::elsewhere).bits;
    return true;
  }
  if (!from.any_sent(slot.to)) return false;  // never waits for what another link has
  remember({slot.to, slot.priority, 0, slot.room});
  return true;
}

bool ShmTransport::has_chunk(NodeId to, Priority priority, std::size_t bytes) noexcept {
  Chunks& from = chunks(priority);
  return from.has_room(to, bytes) || !from.any_sent(to);
}

bool ShmTransport::has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  impl::Producer& ring = producers_[impl::link_index(to, priority)];
  if (!ring.connected()) return connect(to) != Status::again;
  const bool in_lines = payload_bytes <= impl::packet_payload_bytes;
  const std::size_t lines = 1 + (in_lines ? impl::payload_lines(impl::max_words, payload_bytes) : 0);
  if (!ring.has_room(lines)) {
    remember({to, priority, lines, 0});
  } else if (!in_lines && !has_chunk(to, priority, Chunks::bytes_for(payload_bytes))) {
    remember({to, priority, 0, Chunks::bytes_for(payload_bytes)});
  } else {
    return true;
  }
  return false;
}

Transport::Slot ShmTransport::lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::too_big, to, priority};
  if (payload_bytes > Chunks::largest) return slot;
  if (!producers_[impl::link_index(to, priority)].connected()) {
    slot.status = connect(to);
    if (slot.status != Status::ok) return slot;
    slot.status = Status::too_big;
  }
  if (take_chunk(slot, payload_bytes)) slot.status = slot.payload != nullptr ? Status::ok : Status::again;
  return slot;
}

Transport::Slot ShmTransport::claim_lent(const Slot& lent) noexcept {
  Slot slot = lent;
  if (closed_[lent.to]) {
    slot.status = Status::unreachable;
  } else {
    take_lines(slot, 1);
  }
  return slot;
}

// Out of line, and not unrolled: a processor drops what it is asked for too fast. Of 4 KiB, whose half round trip this makes 0.85
// times as long, unrolling it by eight lost all.
[[gnu::noinline]] void ShmTransport::fetch(const Payload& payload) noexcept {
  constexpr std::size_t most = 4096;
  const std::byte* const end = payload.data() + std::min(payload.size(), most);
  for (const std::byte* at = payload.data(); at < end; at += impl::line_bytes) __builtin_prefetch(at);
}

std::optional<Payload> ShmTransport::payload_in_chunk(const View& view) const noexcept {
  const std::size_t bytes = impl::read_once(view.packet->payload_bytes);
  const std::byte* const chunk =
      Chunks::find(rings_.chunks(view.source, view.priority), view.head.place(), bytes);
  if (chunk == nullptr) return std::nullopt;
  return Payload(chunk, bytes);
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
  rings_.set_connected(to, self_);
  PairBlock& pair = rings_.pair(to, self_);
  producers_[impl::link_index(to, Priority::low)].connect(pair.low, low_lines, &pair.control[0]);
  producers_[impl::link_index(to, Priority::high)].connect(pair.high, high_lines, &pair.control[1]);
  return Status::ok;
}

void ShmTransport::close(NodeId peer) noexcept {
  closed_[peer] = true;
  for (const Priority priority : {Priority::low, Priority::high}) {
    const std::size_t link = impl::link_index(peer, priority);
    producers_[link] = {};
    if (claimed_[link] != 0) chunks(priority).give_back(std::exchange(claimed_[link], 0));
    chunks(priority).close(peer);
  }
}

void ShmTransport::disconnect() noexcept {
  for (std::size_t ring = 0; ring < impl::link_count(rings_.nodes()); ++ring) {
    if (producers_[ring].connected()) producers_[ring] = {};
  }
}

void ShmTransport::ring_doorbell(NodeId to, Priority priority) noexcept {
  host::own_fence();  // between the commit and the look at `watched`, the doorbell and the alarm: see arm
  const impl::RingControl& control = producers_[impl::link_index(to, priority)].control();
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

void ShmTransport::remember(const Refusal& refusal) noexcept {
  std::uint32_t& place = refusal_of_[impl::link_index(refusal.to, refusal.priority)];
  if (place == 0) {
    refusals_[refused_] = refusal;
    place = static_cast<std::uint32_t>(++refused_);
  } else {
    Refusal& least = refusals_[place - 1];
    least.lines = least_of(least.lines, refusal.lines);
    least.chunk_bytes = least_of(least.chunk_bytes, refusal.chunk_bytes);
  }
}

void ShmTransport::set_starved(bool starved) noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    impl::Producer& ring = producers_[impl::link_index(refusals_[i].to, refusals_[i].priority)];
    if (ring.connected()) ring.control().starved.store(starved ? 1 : 0, std::memory_order_relaxed);
  }
}

bool ShmTransport::credit_came() noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    const auto& [to, priority, lines, bytes] = refusals_[i];
    impl::Producer& ring = producers_[impl::link_index(to, priority)];
    if (lines != 0 && ring.has_room(lines)) return true;
    if (bytes != 0 && ring.has_room(1) && has_chunk(to, priority, bytes)) return true;
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
    refusal_of_[impl::link_index(refusals_[refused_ - 1].to, refusals_[refused_ - 1].priority)] = 0;
}

bool ShmTransport::describe(Lookout& lookout, Wanted wanted) const {
  const bool low = inboxes_[0].describe(lookout);
  const bool high = inboxes_[1].describe(lookout);
  return (low && wanted.low) || (high && wanted.high);
}

}  // namespace am::shm
