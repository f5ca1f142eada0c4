#include "transports/faults/faulty_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/impl/link.hpp>
#include <csignal>
#include <cstdio>
#include <utility>

namespace am::faults {

namespace {
enum Purpose : std::uint32_t { refusing, delaying, killing };
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
      kill_before_publishing_(Dice(plan.seed, self, killing).falls(0.5)),
      links_(impl::link_count(nodes)) {}

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
  if (payload_bytes > impl::packet_payload_bytes && refusals_.falls(plan_.refuse))
    payload_bytes = impl::packet_payload_bytes;
  return network_.claim(to, priority, words, payload_bytes);
}

Transport::Slot FaultyTransport::lend(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  if (refusals_.falls(plan_.refuse)) return {nullptr, Status::too_big, to, priority};
  return network_.lend(to, priority, payload_bytes);
}

Transport::Slot FaultyTransport::claim_lent(const Slot& lent) noexcept {
  if (refuses(lent.to, lent.priority)) return {nullptr, Status::again, lent.to, lent.priority};
  return network_.claim_lent(lent);
}

void FaultyTransport::commit(const Slot& slot, impl::Header header) noexcept {
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

bool FaultyTransport::keeps(Link& link) {
  if (!link.decided) {
    link.decided = true;
    if (delays_.falls(plan_.delay)) {
      link.held_until = round_ + delays_.roll(longest_delay);
      all_free_at_ = std::max(all_free_at_, link.held_until);
    }
  }
  return round_ < link.held_until;
}

Transport::View FaultyTransport::receive(Priority priority) noexcept {
  for (;;) {
    const View view = network_.receive(priority);
    if (!view || !keeps(link(view.source, priority))) return view;
    network_.defer(view);
  }
}

void FaultyTransport::release(const View& view) noexcept {
  link(view.source, view.priority).decided = false;
  network_.release(view);
}

bool FaultyTransport::progress() noexcept {
  ++round_;
  return network_.progress();
}

bool FaultyTransport::arm(Wanted wanted) noexcept {
  const bool refused = std::exchange(refused_, false);
  return !refused && !holds_back() && network_.arm(wanted);
}

}  // namespace am::faults
