#include "emulated_hw/ncube2/machine.hpp"

#include <algorithm>
#include <utility>

#include "emulated_hw/kit/fingerprint.hpp"

namespace am::ncube2 {

Machine::Machine(unsigned dimensions, std::size_t words)
    : kit::Machine("ncube2"), network_(dimensions), awake_(network_.nodes()) {
  for (NodeNumber node = 0; node < nodes(); ++node) {
    processors_.push_back(std::make_unique<Processor>(network_, node, words));
    processors_.back()->is_stepped_by(cycles_);
    network_.rings(network_.wiring().node(node), awake_.bell(node));
  }
}

void Machine::step(std::span<const NodeNumber> order) {
  if (order.empty()) {
    awake_.for_each(cycles_, [this](NodeNumber node) {
      processors_[node]->step();
      if (processors_[node]->has_nothing_to_do()) awake_.sleeps(node);
    });
  } else {
    for (const NodeNumber node : order) processors_[node]->step();
  }
  network_.step(order);
  ++cycles_;
}

bool Machine::is_busy_for(Cycle cycles) const {
  return std::ranges::any_of(processors_, [=](const auto& each) { return each->is_busy_for(cycles); });
}

std::string Machine::who_waits() const {
  kit::Waits waits;
  network_.add_waits(waits);
  for (const auto& processor : processors_) processor->add_waits(waits);
  const std::string text = waits.text();
  return text.empty() ? "all programs have ended\n" : text;
}

std::uint64_t Machine::fingerprint() {
  std::uint64_t all = network_.fingerprint();
  for (const auto& processor : processors_) {
    const Processor::Spent& spent = processor->spent();
    for (const std::uint64_t one :
         {spent.computing, spent.dispatching, spent.handling, spent.idle, processor->stolen()})
      all = kit::mixed(all, one);
  }
  return all;
}

void Machine::record(kit::Trace* trace) {
  network_.record(trace,
                  [](unsigned port) { return port < engine_ports ? kit::Hypercube::across(port) : 0; });
  for (const auto& processor : processors_) processor->record(trace);
}

kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title),
          .messages = {"message"},
          .activities = {"computes", "trap", "interrupt", "handler", "reti"}};
}

}  // namespace am::ncube2
