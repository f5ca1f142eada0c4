#include "emulated_hw/iwarp/network.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace am::iwarp {

Network::Network(const kit::Wiring& wiring, const Share& share, const Setting& setting)
    : Network(wiring, Allocation(wiring.wires().size(), share), setting) {}

Network::Network(kit::Wiring wiring, const Allocation& allocation, const Setting& setting)
    : wiring_(std::move(wiring)), busses_(setting) {
  if (setting.queue == 0 || setting.queue > queue_words)
    throw std::invalid_argument("iwarp: a queue of " + std::to_string(setting.queue) + " words: 1 to 8");
  if (allocation.size() != wiring_.wires().size())
    throw std::invalid_argument("iwarp: an allocation names the channels of each bus");
  for (CellNumber cell = 0; cell < cells(); ++cell) agents_.emplace_back(cell, busses_);
  allocate(allocation);
}

/// "When a logical input channel is allocated to a neighbor cell, that neighbor cell allocates a matching, logical output channel."
void Network::allocate(const Allocation& allocation) {
  for (kit::WireNumber number = 0; number < allocation.size(); ++number) {
    const kit::Wire& wire = wiring_.wire(number);
    CommunicationAgent& from = agents_[wire.from.part];
    CommunicationAgent& to = agents_[wire.to.part];
    for (unsigned pool = 0; pool < pools; ++pool) {
      for (unsigned i = 0; i < allocation[number].of(static_cast<Pool>(pool)); ++i) {
        const Channel output =
            from.add_output(static_cast<Direction>(wire.from.port), static_cast<Pool>(pool));
        const Channel input = to.add_input(static_cast<Direction>(wire.to.port), {wire.from.part, output});
        from.leads_to(output, {wire.to.part, input});
      }
    }
  }
  for (CommunicationAgent& agent : agents_) agent.add_own_inputs();
}

void Network::step(std::span<const CellNumber> order) {
  busses_.words.take(now(), [this](const Busses::Flight& flight) {
    agents_[flight.to.cell].arrives(flight.to.channel, flight.word);
  });
  busses_.dequeues.take(now(), [this](const ChannelEnd& end) { agents_[end.cell].dequeued(end.channel); });
  const auto step_one = [](CommunicationAgent& agent) {
    if (!agent.has_nothing_to_do()) agent.step();
  };
  if (order.empty()) {
    for (CommunicationAgent& agent : agents_) step_one(agent);
  } else {
    for (const CellNumber cell : order) step_one(agents_[cell]);
  }
  ++busses_.now;
}

void Network::add_waits(kit::Waits& waits) const {
  for (const CommunicationAgent& agent : agents_) {
    for (Channel channel = 0; channel < most_channels; ++channel) {
      agent.add_waits(channel, waits);
      const Input& input = agent.input(channel);
      if (input.from.cell == kit::nowhere || !input.queue.empty()) continue;
      const Output& output = agents_[input.from.cell].output(input.from.channel);
      const Channel sender = output.holder != no_channel ? output.holder : output.owner;
      if (sender == no_channel) continue;
      const std::string here = CommunicationAgent::place({agent.cell(), channel});
      waits.add(here, here + ": is empty", {CommunicationAgent::place({input.from.cell, sender})});
    }
  }
}

}  // namespace am::iwarp
