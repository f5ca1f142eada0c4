#include "transports/shm/inbox.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/heavy_fence.hpp"

namespace am::shm {

/// Calls f for each node whose bell is rung, as `read` finds it, which says what becomes of the bell. True when any word
/// of them was.
template <class Read, class F>
bool Inbox::for_each_rung(Read read, F f) {
  auto& bells = rings_.doorbells(self_).words[static_cast<std::size_t>(priority_)];
  std::uint64_t words = read(*summary_);
  const bool rung = words != 0;
  for (; words != 0; words &= words - 1) {
    const auto word = static_cast<NodeId>(std::countr_zero(words));
    std::uint64_t bits = read(bells[word]);
    for (; bits != 0; bits &= bits - 1) {
      const NodeId from = word * 64 + static_cast<NodeId>(std::countr_zero(bits));
      if (from < rings_.nodes() && rings_.connected(self_, from)) f(from);  // not what another has scribbled
    }
  }
  return rung;
}

bool Inbox::answer_doorbells() noexcept {
  // Acquire pairs with the release of the bits in ShmTransport::ring_doorbell; the packet itself needs R1 only.
  return for_each_rung([](auto& bells) { return bells.exchange(0, std::memory_order_acquire); },
                       [this](NodeId from) { warm(connect(from)); });
}

Inbox::Inbound& Inbox::connect(NodeId from) noexcept {
  Inbound& in = inbound_[from];
  if (in.ring.connected()) return in;
  PairBlock& pair = rings_.pair(self_, from);
  impl::RingControl* control = &pair.control[static_cast<std::size_t>(priority_)];
  const bool low = priority_ == Priority::low;
  const std::uint32_t lines = low ? low_lines : high_lines;
  in.ring.connect(low ? pair.low : pair.high, lines, control, credit_at_once_ ? 1 : lines / 4);
  in.from = from;
  connected_.push_back(&in);
  return in;
}

void Inbox::warm(Inbound& in) noexcept {
  in.idle_rounds = 0;
  if (in.hot) return;
  in.hot = true;
  // Relaxed: a sender that still reads 0 rings once more, which does no harm.
  in.ring.control().watched.store(watched_, std::memory_order_relaxed);
  const bool may_be_trusted = watched_ == impl::watch::briefly && host::heavy_fence_works();
  in.trusted_at = may_be_trusted ? in.ring.position() + trust_after : never;
  hot_.push_back(&in);
  impl::count(warmed_);
}

void Inbox::trust(Inbound& in) noexcept {
  in.trusted_at = never;
  in.ring.control().watched.store(impl::watch::on, std::memory_order_relaxed);
  trusts_ = true;
}

void Inbox::cool(Inbound& in) noexcept {
  in.hot = false;
  in.ring.control().watched.store(
      0, std::memory_order_relaxed);  // see the head: the rotation covers what this misses
  const auto at = std::find(hot_.begin(), hot_.end(), &in);
  *at = hot_.back();
  hot_.pop_back();
  if (cursor_ >= hot_.size()) cursor_ = 0;
  end_round();
}

void Inbox::rotate() noexcept {
  if (hot_.size() == connected_.size()) return;
  if (++rotation_ >= connected_.size()) rotation_ = 0;
  Inbound& in = *connected_[rotation_];
  if (!in.hot && in.ring.has_packet()) warm(in);
}

void Inbox::look_after_idle() noexcept {
  for (std::size_t i = hot_.size(); i-- > 0;) {  // backwards: cool() moves the last one into the gap
    Inbound& in = *hot_[i];
    give_credit(in);  // of an unfinished burst, when its events were masked meanwhile
    trust_if_busy(in);
    if (std::exchange(in.looked_at, in.ring.position()) != in.ring.position()) in.idle_rounds = 0;
    if (++in.idle_rounds > cool_after_rounds) cool(in);
  }
}

bool Inbox::cool_all() noexcept {
  for (Inbound* in : hot_) {
    in->hot = false;
    in->ring.control().watched.store(0, std::memory_order_relaxed);  // ordered by the caller's fence
  }
  hot_.clear();
  cursor_ = 0;
  end_round();
  return std::exchange(trusts_, false);
}

bool Inbox::look_everywhere(bool packets_wanted) noexcept {
  bool found = answer_doorbells();
  for (Inbound* in : connected_) {
    if (!in->ring.has_packet()) continue;
    warm(*in);
    found = found || (packets_wanted && in->deferred_at != 1 + in->ring.position());
  }
  return found;
}

bool Inbox::waits(const impl::Packet* lent) noexcept {
  // Who sends for the first time has rung. The bell stays as it is, for the round that makes his ring hot.
  for_each_rung([](auto& bells) { return bells.load(std::memory_order_relaxed); },
                [this](NodeId from) { connect(from); });
  return std::any_of(connected_.begin(), connected_.end(),
                     [lent](const Inbound* in) { return in->ring.waits(lent); });
}

bool Inbox::describe(Lookout& lookout) const {
  lookout.watch(*summary_, 0);
  lookout.watch(warmed_);
  bool found = false;
  for (const Inbound* in : hot_) {
    lookout.watch(in->ring.next_header());
    found = found ||
            (in->ring.ready() && in->deferred_at != 1 + in->ring.position());  // after the value was noted
  }
  return found;
}

}  // namespace am::shm
