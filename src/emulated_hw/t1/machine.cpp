#include "emulated_hw/t1/machine.hpp"

#include <algorithm>
#include <utility>

#include "emulated_hw/t1/nistat.hpp"

namespace am::t1 {

Machine::Processors Machine::made(NodeNumber nodes) {
  Processors processors;
  for (NodeNumber node = 0; node < nodes; ++node) {
    NetworkInterface& ni = processors.emplace_back(node).ni();
    ni.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm);
    ni.ctc2(Register::enable, 1);
  }
  return processors;
}

Machine::Machine(const Mesh::Shape& shape)
    : kit::Machine("t1"),
      awake_(grid_of(shape).nodes()),
      processors_(made(shape.rows * shape.columns)),
      mesh_(shape, [this](NodeNumber node) { return &processors_[node].ni(); }) {
  for (NodeNumber node = 0; node < nodes(); ++node)
    processors_[node].is_stepped_by(cycles_, awake_.bell(node));
}

void Machine::add_hardware_handlers(Memories& memories) {
  for (NodeNumber node = 0; node < nodes(); ++node)
    hardware_.emplace_back(processors_[node].ni(), memories.of(node), nodes());
}

void Machine::step(std::span<const NodeNumber> order) {
  mesh_.step(order);
  if (order.empty()) {
    awake_.for_each(cycles_, [this](NodeNumber node) { step(node); });
  } else {
    for (const NodeNumber node : order) step(node);
  }
  ++cycles_;
}

void Machine::step(NodeNumber node) {
  Processor& processor = processors_[node];
  if (!hardware_.empty()) hardware_[node].step();
  processor.step();
  if (!processor.has_nothing_to_do() || !(hardware_.empty() || hardware_[node].has_nothing_to_do())) return;
  awake_.sleeps(node, cycles_ + processor.until_timelet());
}

bool Machine::all_sleep() const {
  return awake_.empty() && mesh_.is_idle() && std::ranges::none_of(processors_, &Processor::awaits_timelet);
}

bool Machine::is_busy_for(Cycle cycles) const {
  return std::ranges::any_of(processors_, [=](const auto& each) { return each.is_busy_for(cycles); });
}

std::string Machine::who_waits() const {
  kit::Waits waits;
  mesh_.add_waits(waits);
  for (const Processor& processor : processors_) processor.add_waits(waits);
  const std::string text = waits.text();
  return text.empty() ? "all programs have ended\n" : text;
}

void Machine::record(kit::Trace* trace) {
  mesh_.record(trace);
  for (Processor& processor : processors_) processor.record(trace);
}

kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title),
          .messages = {"low", "high", "low multicast", "high multicast"},
          .activities = {"computes", "SEND", "dispatch", "handler", "HRET"}};
}

}  // namespace am::t1
