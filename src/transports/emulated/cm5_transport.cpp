#include "transports/emulated/cm5_transport.hpp"

#include <am/error.hpp>
#include <string>

namespace am::emulated {

std::size_t cm5_bytes(NodeId nodes) {
  static_assert(cm5::Tree::most_nodes == kit::most_live_nodes);
  if (nodes > cm5::Tree::most_nodes)
    throw Error("make the networks of a CM-5",
                "the job has " + std::to_string(nodes) + " nodes, and a CM-5 has up to " +
                    std::to_string(cm5::Tree::most_nodes),
                "run fewer nodes, or another network (AM_TRANSPORT)");
  return 2 * cm5_network_bytes(nodes);
}

Cm5Transport::Cm5Transport(const Site& site)
    : WindowTransport(site, cm5_bytes(site.memory->nodes()), most_lanes, false, sizeof(PieceWindow)),
      host_(windows()),
      networks_{cm5::LiveTree(windows().nodes(), windows().routers(), host_),
                cm5::LiveTree(windows().nodes(), windows().routers() + cm5_network_bytes(windows().nodes()),
                              host_)},
      sent_(ordered_lanes * windows().nodes()),
      injector_(networks_, self(), most_waiting(), backlog()),
      swaps_(site.cm5_swap_ns, 1 + self()) {}

void Cm5Transport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  const bool has_payload = header.has(impl::flag::payload);
  const std::size_t messages =
      cm5_messages(header.words(), has_payload, has_payload ? slot.packet->payload_bytes : 0);
  publish_in(slot, header);
  cm5::LiveMessage message{.destination = slot.to, .source = self(), .lane = slot.lane};
  if (slot.lane < ordered_lanes) {
    const std::uint64_t number = sent_[ordered_lanes * slot.to + slot.lane]++;
    host_.pieces(slot.to, self()).announce(static_cast<Lane>(slot.lane), number, messages);
    message.packet = static_cast<std::uint32_t>(number % cm5::live_packets);
  }
  cm5::LiveTree& network = of(networks_, slot.priority);
  for (std::size_t i = 0; i < messages; ++i) {
    injector_.put(slot.priority, message);
    network.carry(self());
  }
}

bool Cm5Transport::progress() noexcept {
  swaps_.look(networks_);
  return WindowTransport::progress();
}

bool Cm5Transport::look_after() noexcept {
  bool any = false;
  for (cm5::LiveTree& network : networks_) any = network.look_after() || any;
  return any;
}

bool Cm5Transport::drained() const noexcept {
  return !has_backlog() && networks_[0].has_gone(self()) && networks_[1].has_gone(self());
}

}  // namespace am::emulated
