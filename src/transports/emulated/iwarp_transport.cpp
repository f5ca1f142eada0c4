#include "transports/emulated/iwarp_transport.hpp"

namespace am::emulated {

Extents iwarp_extents(std::string_view options, NodeId nodes) {
  return extents_of({"iwarp", "an iWarp", kit::most_live_nodes}, options, nodes);
}

// Waiting at most: a packet for each slot that may have been claimed.
IwarpTransport::IwarpTransport(const Site& site)
    : WindowTransport(site, iwarp::LiveTorus::bytes(site.memory->nodes()), ordered_lanes, true),
      host_(windows()),
      torus_(iwarp_extents(site.options, site.memory->nodes()), windows().routers(), host_),
      injector_(torus_, self(), windows().nodes() + 1, backlog()) {}

void IwarpTransport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  publish_in(slot, header);
  const iwarp::LiveMessage message{
      .destination = slot.to,
      .source = self(),
      .priority = slot.priority == Priority::high ? iwarp::Counted::high : iwarp::Counted::low};
  injector_.put(slot.priority, message);
  torus_.carry(self(), message);
}

bool IwarpTransport::reserve(NodeId to) noexcept {
  return torus_.reserve(self(), to, [this](NodeId node) { return is_closed(node); });
}

}  // namespace am::emulated
