#include "transports/emulated/ncube2_transport.hpp"

#include <bit>
#include <numeric>
#include <utility>

namespace am::emulated {

namespace {

constexpr ncube2::For handled_at(Priority priority) noexcept {
  return priority == Priority::high ? ncube2::For::high : ncube2::For::low;
}

}  // namespace

Ncube2Transport::Ncube2Transport(const Site& site)
    : Ncube2Transport(site, dimensions_of("an nCUBE/2", site.memory->nodes())) {}

// Waiting at most: a packet for each slot that may have been claimed, and an access that began before they were committed.
Ncube2Transport::Ncube2Transport(const Site& site, unsigned dimensions)
    : WindowTransport(site, ncube2::LiveCube::bytes(site.memory->nodes()), ordered_lanes, true),
      host_(windows()),
      cube_(dimensions, windows().routers(), host_),
      accesses_(windows(), self()),
      injector_(cube_, self(), windows().nodes() + 1, backlog()) {}

void Ncube2Transport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  publish_in(slot, header);
  if (!multicast_ || slot.to == self())
    return send(slot.priority, {.destination = slot.to, .source = self(), .who = handled_at(slot.priority)});
  multicast_->priority = slot.priority;
  multicast_->to.set(slot.to);
}

void Ncube2Transport::share_out(NodeId /*from*/, std::span<const NodeId> /*members*/,
                                std::span<std::uint32_t> by) const noexcept {
  std::iota(by.begin(), by.end(), std::uint32_t{0});
}

void Ncube2Transport::end_multicast() noexcept {
  const Multicast all = *std::exchange(multicast_, std::nullopt);
  const auto dimensions = static_cast<unsigned>(std::countr_zero(windows().nodes()));
  auto broadcast = [&](NodeId node, NodeId mask) {
    send(all.priority,
         {.destination = node, .source = self(), .who = handled_at(all.priority), .mask = mask});
  };
  for_each_subcube(all.to, self(), {dimensions}, broadcast);
}

void Ncube2Transport::send(Priority priority, const ncube2::LiveMessage& message) noexcept {
  injector_.put(priority, message);
  cube_.carry(self(), message);
}

Status Ncube2Transport::begin_access(Access access, NodeId peer, std::size_t /*bytes*/) noexcept {
  if (!is_connected(peer)) {
    if (const Status status = connect(peer); status != Status::ok) return status;
  }
  if (!injector_.push(Priority::low) || !accesses_.may_begin(access, peer)) return Status::again;
  if (access == Access::fetch && !accesses_.can_be_answered(peer)) return no_memory(peer);
  accesses_.begun(access, peer);
  send(Priority::low, {.destination = peer,
                       .source = self(),
                       .who = access == Access::store ? ncube2::For::store : ncube2::For::fetch});
  return Status::ok;
}

}  // namespace am::emulated
