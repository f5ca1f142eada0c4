#include "transports/emulated/cm5_transport.hpp"

#include <am/error.hpp>
#include <string>

namespace am::emulated {

namespace {

using ControlOperation = cm5::ControlOperation;

static_assert(static_cast<int>(Synchronizer::Kind::scan) == static_cast<int>(ControlOperation::Kind::scan));
static_assert(static_cast<int>(Synchronizer::Combiner::bit_xor) == static_cast<int>(cm5::Combiner::bit_xor));
static_assert(Synchronizer::everybody == ControlOperation::all);

ControlOperation in_control(const Synchronizer::Operation& its) noexcept {
  return {static_cast<ControlOperation::Kind>(its.kind), static_cast<cm5::Combiner>(its.combiner),
          its.descends, its.root, its.bytes};
}
Synchronizer::Operation in_core(const ControlOperation& its) noexcept {
  return {static_cast<Synchronizer::Kind>(its.kind), static_cast<Synchronizer::Combiner>(its.combiner),
          its.descends, its.root, its.more};
}

}  // namespace

std::size_t cm5_bytes(NodeId nodes) {
  static_assert(cm5::Tree::most_nodes == kit::most_live_nodes);
  if (nodes > cm5::Tree::most_nodes)
    throw Error("make the networks of a CM-5",
                "the job has " + std::to_string(nodes) + " nodes, and a CM-5 has up to " +
                    std::to_string(cm5::Tree::most_nodes),
                "run fewer nodes, or another network (AM_TRANSPORT)");
  return 2 * cm5_network_bytes(nodes) + cm5::LiveControl::bytes(nodes);
}

Cm5Transport::Cm5Transport(const Site& site)
    : WindowTransport(site, cm5_bytes(site.memory->nodes()), most_lanes, false, sizeof(PieceWindow)),
      host_(windows()),
      showing_(windows()),
      networks_{cm5::LiveTree(windows().nodes(), windows().routers(), host_),
                cm5::LiveTree(windows().nodes(), windows().routers() + cm5_network_bytes(windows().nodes()),
                              host_)},
      control_(windows().nodes(), windows().routers() + 2 * cm5_network_bytes(windows().nodes()), *this),
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

void Cm5Transport::take_part(std::uint64_t number, const Operation& operation, const Part& part) noexcept {
  awaited_ = 0;
  control_.take_part(self(), number, {in_control(operation).bits(), part.value, part.any, part.cut});
}

std::optional<Synchronizer::Result> Cm5Transport::result(std::uint64_t number, bool thoroughly) noexcept {
  auto its = control_.result(self(), number);
  for (NodeId node = 0; thoroughly && !its && node < windows().nodes(); ++node) {
    if (control_.what_of(node, number)) control_.carry(node, number);
    its = control_.result(self(), number);
  }
  awaited_ = its ? 0 : number;
  if (!its) return std::nullopt;
  const bool agreed = its->what == control_.what_of(self(), number);  // a broadcast's root waits for nobody
  return Result{agreed, its->value, its->any};
}

bool Cm5Transport::has_result() noexcept {
  if (awaited_ == 0) return false;
  control_.carry(self(), awaited_);
  const bool has = control_.result(self(), awaited_).has_value();
  if (has) awaited_ = 0;
  return has;
}

std::optional<Synchronizer::Operation> Cm5Transport::part_of(NodeId node,
                                                             std::uint64_t number) const noexcept {
  const auto what = control_.what_of(node, number);
  if (!what) return std::nullopt;
  return in_core(ControlOperation::of(*what));
}

bool Cm5Transport::drained() const noexcept {
  return !has_backlog() && networks_[0].has_gone(self()) && networks_[1].has_gone(self());
}

}  // namespace am::emulated
