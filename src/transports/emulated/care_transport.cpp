#include "transports/emulated/care_transport.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <numeric>
#include <string>
#include <utility>

namespace am::emulated {

namespace {

constexpr care::Counted ordered_lane(Priority priority) noexcept {
  return static_cast<care::Counted>(lane_of(priority, false));
}
static_assert(ordered_lane(Priority::high) == care::Counted::high &&
              static_cast<Lane>(care::Counted::low_unordered) == Lane::low_unordered);

}  // namespace

care::LiveShape care_shape(std::string_view options, NodeId nodes) {
  constexpr std::string_view torus = "torus";
  if (options == "cube") return {.dimensions = dimensions_of("CARE", nodes), .is_cube = true};
  if (options.empty() || (options.front() >= '0' && options.front() <= '9'))
    return {.extents = extents_of({"care", "CARE", kit::most_live_nodes}, options, nodes)};
  if (options == torus || options.starts_with("torus:")) {
    options.remove_prefix(std::min(options.size(), torus.size() + 1));
    return {.extents = extents_of({"care:torus", "CARE", kit::most_live_nodes}, options, nodes)};
  }
  throw Error("make the network of CARE",
              "AM_TRANSPORT=care:" + std::string(options) + " is neither a torus nor a cube",
              "say care, care:torus, care:torus:ROWSxCOLUMNS or care:cube");
}

CareTransport::CareTransport(const Site& site)
    : CareTransport(site, care_shape(site.options, site.memory->nodes())) {}

// Waiting at most: a packet for each slot that may have been claimed, ordered or not.
CareTransport::CareTransport(const Site& site, const care::LiveShape& shape)
    : WindowTransport(site, care::LiveSites::bytes(site.memory->nodes()), most_lanes, true),
      host_(windows()),
      sites_(shape, windows().routers(), host_),
      lists_(sites_, self(), windows().nodes()),
      injector_(sites_, self(), 2 * windows().nodes() + 1, backlog()),
      members_(windows().nodes()) {}

void CareTransport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  publish_in(slot, header);
  if (!multicast_) return send_to_one(slot.priority, static_cast<care::Counted>(slot.lane), slot.to);
  multicast_->priority = slot.priority;
  members_[multicast_->members++] = slot.to;
}

void CareTransport::share_out(NodeId /*from*/, std::span<const NodeId> /*members*/,
                              std::span<std::uint32_t> by) const noexcept {
  std::iota(by.begin(), by.end(), std::uint32_t{0});
}

void CareTransport::end_multicast() noexcept {
  const Multicast all = *std::exchange(multicast_, std::nullopt);
  std::span<const NodeId> rest(members_.data(), all.members);
  while (!rest.empty()) {
    const std::size_t these = std::min<std::size_t>(rest.size(), care::most_targets);
    send_list(all.priority, rest.first(these));
    rest = rest.subspan(these);
  }
}

/// Where no list is free, since routers hold what others have left in the middle, each target gets a message of its own.
void CareTransport::send_list(Priority priority, std::span<const NodeId> targets) noexcept {
  const care::Counted lane = ordered_lane(priority);
  if (targets.size() > 1) {
    if (const auto message = lists_.write(lane, targets)) return send(priority, *message);
  }
  for (const NodeId to : targets) send_to_one(priority, lane, to);
}

void CareTransport::send_to_one(Priority priority, care::Counted lane, NodeId to) noexcept {
  lists_.is_sent(lane, to);
  send(priority, {.source = self(), .lane = lane, .destination = to});
}

void CareTransport::send(Priority priority, const care::LiveMessage& message) noexcept {
  injector_.put(priority, message);
  sites_.carry(self(), message);
}

}  // namespace am::emulated
