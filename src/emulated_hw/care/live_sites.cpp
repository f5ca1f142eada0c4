#include "emulated_hw/care/live_sites.hpp"

namespace am::care {

using kit::EndRule;
using kit::EndSet;
using kit::has;
using kit::request;

kit::EndSet LiveSites::ends(NodeNumber at, unsigned input, std::uint32_t packet) const noexcept {
  const LiveMessage message = LiveMessage::of(packet);
  if (message.source >= routers()) return {};
  if (message.is_list()) return ends_of_list(at, input, message);
  if (message.destination >= routers()) return {};
  if (message.destination == at) return {.node = true};
  const Requests in_order = request(ways_.in_order(at, message.destination));
  if (is_ordered(message.lane)) return {.channels = in_order};
  const Requests store = input == storage ? 0 : request(storage);
  return {.channels = ways_.nearer(at, message.destination) | in_order | store, .rule = EndRule::one};
}

kit::EndSet LiveSites::ends_of_list(NodeNumber at, unsigned input,
                                    const LiveMessage& message) const noexcept {
  EndSet ends;
  const bool is_under_way = list_of(message).for_each_of(message, [&](unsigned, NodeNumber target) {
    if (target == at) {
      ends.node = true;
    } else if (target < routers()) {
      ends.channels |= request(ways_.in_order(at, target));
    }
  });
  if (!is_under_way) return {};  // all have it: this packet has only to leave
  ends.channels = ways_.by_link(ends.channels);
  if (input == storage || !ends.are_several()) return ends;
  return {ends.channels | request(storage), ends.node, EndRule::keep};
}

std::uint32_t LiveSites::packet_at(NodeNumber at, unsigned output, std::uint32_t packet,
                                   Requests fate) const noexcept {
  LiveMessage message = LiveMessage::of(packet);
  if (!message.is_list()) return packet;
  std::uint32_t its = 0;
  NodeNumber last = 0;
  list_of(message).for_each_of(message, [&](unsigned entry, NodeNumber target) {
    if (target == at || target >= routers()) return;
    const unsigned way = ways_.in_order(at, target);
    const bool goes = output == storage ? !ways_.goes_with(way, fate) : ways_.goes_with(way, request(output));
    if (!goes) return;
    its |= 1U << entry;
    last = target;
  });
  if ((its & (its - 1)) == 0) return message.to(last).bits();
  message.targets = its;
  return message.bits();
}

void LiveSites::moved(NodeNumber at, unsigned input, Requests outputs, bool to_node) noexcept {
  LiveTurns& its = router_at(at).decisions;
  if (input == storage) its.retransmissions.add(1);
  if (std::popcount(outputs) + (to_node ? 1 : 0) > 1) its.splits.add(1);
  if (has(outputs, storage))
    (outputs == request(storage) && !to_node ? its.forced_stores : its.aborts).add(1);
}

std::optional<LiveMessage> LiveSites::write_list(NodeNumber source, Counted lane, unsigned list,
                                                 std::span<const NodeNumber> targets) noexcept {
  LiveMessage message{.source = source, .lane = lane, .targets = (1U << targets.size()) - 1, .list = list};
  TargetList& its = list_of(message);
  message.edition = (its.edition.load(std::memory_order_relaxed) + 1) % editions;
  if (message.edition == 0 && holds_any(message)) return std::nullopt;
  its.write(message.edition, targets);
  return message;
}

/// Whether a packet of that list, of any edition, is the first of an input that it may come by.
bool LiveSites::holds_any(const LiveMessage& message) const noexcept {
  const auto is_its = [&](const kit::HeldChannel& input) {
    const kit::HeldChannel::First first = input.first(kit::Look());
    const LiveMessage other = LiveMessage::of(first.packet);
    return first.is_there && other.is_list() && other.source == message.source &&
           other.lane == message.lane && other.list == message.list;
  };
  for (NodeNumber site = 0; site < routers(); ++site) {
    for (unsigned input = 0; input <= storage; ++input) {
      if ((input == storage || ways_.kind_of(input) != 0) && is_its(router(site).inputs[input])) return true;
    }
  }
  return is_its(router(message.source).inputs[entrance(message.source, message)]);
}

}  // namespace am::care

namespace am::kit {
template class LiveNetwork<care::LiveSites, care::LiveRouter>;
}
