#include "transports/emulated/arrivals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/bell.hpp"

namespace am::emulated {

namespace {
constexpr std::uint32_t quiet_until_forgotten = 64;
}  // namespace

Arrivals::Arrivals(const Windows& windows, NodeId self, Lane lane)
    : windows_(windows),
      self_(self),
      lane_(lane),
      news_(windows.news(self)),
      inbound_(windows.nodes()),
      known_((windows.nodes() + 63) / 64) {
  hot_.reserve(windows.nodes());
}

void Arrivals::warm(NodeId from) noexcept {
  Inbound& in = inbound_[from];
  if (!in.ring.connected()) {
    Window& window = windows_.window(self_, from);
    const std::uint32_t lines = lines_of(lane_);
    in.ring.connect(window.ring(lane_), lines, &window.control[index(lane_)], lines / 4);
    in.arrived = &window.arrived[index(lane_)];
    in.shown = &window.shown[index(lane_)];
    in.from = from;
  }
  in.quiet = 0;
  in.known = {in.arrived->load(std::memory_order_acquire)};
  known_[from / 64] |= std::uint64_t{1} << from % 64;
  hot_.push_back(&in);
}

void Arrivals::take_news() noexcept {
  auto& words = news_.from[index(lane_)].word;
  for (std::size_t word = 0; word < known_.size(); ++word) {
    std::uint64_t bits = words[word].load(std::memory_order_seq_cst) & ~known_[word];
    for (; bits != 0; bits &= bits - 1) {
      const auto from = static_cast<NodeId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (from < windows_.nodes()) warm(from);  // not what another has scribbled
    }
  }
}

bool Arrivals::look() noexcept {
  take_news();
  left_ = hot_.size();
  if (++at_ >= left_) at_ = 0;
  return std::ranges::any_of(hot_, [](const Inbound* in) { return has_packet(*in); });
}

const impl::Packet* Arrivals::receive(NodeId& from, impl::Header& head) noexcept {
  for (; left_ != 0; --left_) {
    Inbound& in = *hot_[at_];
    if (has_packet(in)) {
      if (const impl::Packet* packet = in.ring.receive(head)) {
        from = in.from;
        lender_ = &in;
        return packet;
      }
    }
    give_credit(in);
    if (++at_ >= hot_.size()) at_ = 0;
  }
  return nullptr;
}

void Arrivals::release(NodeId from, std::size_t lines, bool at_once) noexcept {
  Inbound& in = inbound_[from];
  ++in.taken;
  if (in.ring.release(lines)) host::wake(windows_.board(), from);
  if (at_once) give_credit(in);
}

void Arrivals::give_credit(Inbound& in) noexcept {
  if (in.ring.publish()) host::wake(windows_.board(), in.from);
}

void Arrivals::defer(NodeId from) noexcept {
  Inbound& in = inbound_[from];
  in.deferred_at = 1 + in.taken;
  in.quiet = 0;
  if (left_ == 0 || hot_[at_] != &in) return;  // another round has begun since
  --left_;
  if (++at_ >= hot_.size()) at_ = 0;
}

void Arrivals::look_after_quiet() noexcept {
  for (std::size_t i = hot_.size(); i-- > 0;) {
    Inbound& in = *hot_[i];
    give_credit(in);
    in.known = {in.arrived->load(std::memory_order_acquire)};  // for once what was not shown
    if (std::exchange(in.looked_at, in.taken) != in.taken) in.quiet = 0;
    if (++in.quiet <= quiet_until_forgotten || in.known.beyond(in.taken) != 0 || !forget(in)) continue;
    hot_[i] = hot_.back();
    hot_.pop_back();
  }
  left_ = 0;
}

/// False where something has come meanwhile, so that the bit stands again.
bool Arrivals::forget(Inbound& in) noexcept {
  auto& word = news_.from[index(lane_)].word[in.from / 64];
  const std::uint64_t bit = std::uint64_t{1} << in.from % 64;
  word.fetch_and(~bit, std::memory_order_seq_cst);
  if (kit::Entry{in.arrived->load(std::memory_order_seq_cst)}.beyond(in.taken) != 0) {
    word.fetch_or(bit, std::memory_order_seq_cst);
    in.quiet = 0;
    return false;
  }
  known_[in.from / 64] &= ~bit;
  return true;
}

/// Whether f(number of packets that have come and were not taken, inbound) holds for a sender of whom there was news.
template <class F>
bool Arrivals::any_sender(F f) const noexcept {
  const auto& words = news_.from[index(lane_)].word;
  for (std::size_t word = 0; word < known_.size(); ++word) {
    std::uint64_t bits = words[word].load(std::memory_order_seq_cst) | known_[word];
    for (; bits != 0; bits &= bits - 1) {
      const auto from = static_cast<NodeId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (from >= windows_.nodes()) break;
      const auto& arrived = windows_.window(self_, from).arrived[index(lane_)];
      const Inbound& in = inbound_[from];
      if (f(kit::Entry{arrived.load(std::memory_order_seq_cst)}.beyond(in.taken), in)) return true;
    }
  }
  return false;
}

bool Arrivals::waits(const impl::Packet* lent) const noexcept {
  const Inbound* lender = lent != nullptr ? lender_ : nullptr;
  return any_sender(
      [lender](std::int64_t waiting, const Inbound& in) { return waiting > (&in == lender ? 1 : 0); });
}

bool Arrivals::any() const noexcept {
  return any_sender(
      [](std::int64_t waiting, const Inbound& in) { return waiting != 0 && in.deferred_at != 1 + in.taken; });
}

bool Arrivals::look_everywhere() noexcept {
  for (Inbound* in : hot_) in->known = {in->arrived->load(std::memory_order_seq_cst)};
  return any();
}

bool Arrivals::describe(Lookout& lookout) const {
  const auto& words = news_.from[index(lane_)].word;
  for (std::size_t word = 0; word < known_.size(); ++word) lookout.watch(words[word], known_[word]);
  for (const Inbound* in : hot_) lookout.watch(*in->shown);
  return any();  // after the values were noted
}

}  // namespace am::emulated
