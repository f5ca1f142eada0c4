#include "transports/faults/faulty_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/impl/link.hpp>
#include <csignal>
#include <cstdio>
#include <utility>

namespace am::faults {

namespace {
enum Purpose : std::uint32_t { refusing, delaying, killing, reordering };

/// What a sender adds to the origin of a packet that is to be given late. There are not so many nodes.
constexpr NodeId late = NodeId{1} << 31;
}  // namespace

Dice::Dice(std::uint64_t seed, NodeId node, std::uint32_t purpose) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), node,
                      purpose};
  engine_.seed(mixed);
}

bool Dice::falls(double probability) {
  if (probability <= 0) return false;
  constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << 53);
  return static_cast<double>(engine_() >> 11) * unit < probability;
}

std::uint64_t Dice::roll(std::uint64_t sides) { return 1 + engine_() % sides; }

FaultyTransport::FaultyTransport(Transport& network, const Plan& plan, NodeId self, NodeId nodes)
    : network_(network),
      plan_(plan),
      self_(self),
      name_(std::string(network.name()) + " with faults"),
      refusals_(plan.seed, self, refusing),
      delays_(plan.seed, self, delaying),
      reorders_(plan.seed, self, reordering),
      kill_before_publishing_(Dice(plan.seed, self, killing).falls(0.5)),
      links_(impl::link_count(nodes)),
      kept_(plan.reorder > 0) {}

FaultyTransport::Link& FaultyTransport::link(NodeId peer, Priority priority) {
  const std::size_t index = impl::link_index(peer, priority);
  if (index >= links_.size()) links_.resize(index + 1);
  return links_[index];
}

bool FaultyTransport::refuses(NodeId to, Priority priority) {
  if (multicast_ == Multicast::let_in) return false;
  Link& out = link(to, priority);
  if (out.refusals < most_refusals && refusals_.falls(plan_.refuse)) {
    refused_ = true;
    ++out.refusals;
    return true;
  }
  out.refusals = 0;
  if (multicast_ == Multicast::begun) multicast_ = Multicast::let_in;
  return false;
}

Transport::Slot FaultyTransport::claim(NodeId to, Priority priority, std::size_t words,
                                       std::size_t payload_bytes) noexcept {
  if (refuses(to, priority)) return {nullptr, Status::again, to, priority};
  link(to, priority).unordered = nullptr;
  if (payload_bytes > impl::packet_payload_bytes && refusals_.falls(plan_.refuse))
    payload_bytes = impl::packet_payload_bytes;
  return network_.claim(to, priority, words, payload_bytes);
}

Transport::Slot FaultyTransport::claim_unordered(NodeId to, Priority priority, std::size_t words,
                                                 std::size_t payload_bytes) noexcept {
  if (refuses(to, priority)) return {nullptr, Status::again, to, priority};
  UnorderedLanes* const lanes = network_.unordered_lanes(to);
  const Slot slot = lanes != nullptr ? lanes->claim_unordered(to, priority, words, payload_bytes)
                                     : network_.claim(to, priority, words, payload_bytes);
  link(to, priority).unordered = slot.packet;
  return slot;
}

bool FaultyTransport::has_room_unordered(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  UnorderedLanes* const lanes = network_.unordered_lanes(to);
  return lanes != nullptr ? lanes->has_room_unordered(to, priority, payload_bytes)
                          : network_.has_room(to, priority, payload_bytes);
}

Transport::Slot FaultyTransport::lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  if (refusals_.falls(plan_.refuse)) return {nullptr, Status::too_big, to, priority};
  return network_.payload_room(to)->lend(to, priority, payload_bytes);
}

Transport::Slot FaultyTransport::claim_lent(const Slot& lent) noexcept {
  if (refuses(lent.to, lent.priority)) return {nullptr, Status::again, lent.to, lent.priority};
  link(lent.to, lent.priority).unordered = nullptr;
  return network_.payload_room(lent.to)->claim_lent(lent);
}

void FaultyTransport::commit(const Slot& slot, impl::Header header) noexcept {
  if (std::exchange(link(slot.to, slot.priority).unordered, nullptr) == slot.packet &&
      reorders_.falls(plan_.reorder))
    slot.packet->origin |= late;
  const bool last = ++commits_ == (plan_.kill && plan_.kill->node == self_ ? plan_.kill->commit : 0);
  if (last && kill_before_publishing_) end_this_process("before it is published");
  network_.commit(slot, header);
  if (last) end_this_process("after it is published");
}

void FaultyTransport::end_this_process(const char* when) const noexcept {
  std::fprintf(stderr, "am: node %u: faults: killed at commit %llu, %s (seed=%llu)\n", self_,
               static_cast<unsigned long long>(commits_), when, static_cast<unsigned long long>(plan_.seed));
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

std::uint64_t FaultyTransport::later(Dice& dice) {
  const std::uint64_t round = round_ + dice.roll(longest_delay);
  all_free_at_ = std::max(all_free_at_, round);
  return round;
}

bool FaultyTransport::keeps(Head& head) {
  if (!head.decided) {
    head.decided = true;
    if (delays_.falls(plan_.delay)) head.held_until = later(delays_);
  }
  return round_ < head.held_until;
}

bool FaultyTransport::is_late(const View& view) const noexcept {
  return plan_.reorder > 0 && (view.head.is_plain() || view.head.is_words_and_payload()) &&
         (impl::read_once(view.packet->origin) & late) != 0;
}

/// Not one that cannot be what its sender says, which is left to core.
bool FaultyTransport::take_out(const View& view) {
  const bool has_payload = view.head.has(impl::flag::payload);
  const std::optional<Payload> payload = has_payload ? network_.payload_of(view) : Payload{};
  if (!payload || payload->size() > impl::packet_payload_bytes) return false;
  kept_.keep(view, *payload, view.source, later(reorders_));
  release(view);
  return true;
}

/// What was kept comes first, so that no sender without end keeps it here.
Transport::View FaultyTransport::receive(Priority priority) noexcept {
  if (!lends(priority)) {
    if (const View view = kept_.next(priority, round_)) return view;
  }
  for (;;) {
    const View view = network_.receive(priority);
    const bool stays = view && keeps(head(view));
    const bool comes_late = view && !stays && is_late(view);
    if (stays || (comes_late && kept_.is_full(priority))) {
      network_.defer(view);
    } else if (!comes_late || !take_out(view)) {
      lends(priority) = static_cast<bool>(view);
      return view;
    }
  }
}

void FaultyTransport::release(const View& view) noexcept {
  if (kept_.holds(view.priority, view.packet)) return kept_.release(view);
  head(view).decided = false;
  lends(view.priority) = false;
  network_.release(view);
}

void FaultyTransport::defer(const View& view) noexcept {
  if (kept_.holds(view.priority, view.packet)) return kept_.defer(view, round_ + 1);
  lends(view.priority) = false;
  network_.defer(view);
}

bool FaultyTransport::progress() noexcept {
  ++round_;
  return network_.progress();
}

bool FaultyTransport::arm(Wanted wanted) noexcept {
  const bool refused = std::exchange(refused_, false);
  return !refused && !holds_back() && !kept_.any(wanted) && network_.arm(wanted);
}

}  // namespace am::faults
