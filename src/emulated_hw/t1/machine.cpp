#include "emulated_hw/t1/machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulated_hw/t1/nistat.hpp"

namespace am::t1 {

Machine::Processors Machine::made(NodeNumber nodes) {
  Processors processors;
  for (NodeNumber node = 0; node < std::min(nodes, most_nodes);
       ++node) {  // Mesh says what is wrong with more
    NetworkInterface& ni = processors.emplace_back(std::make_unique<Processor>(node))->ni();
    ni.ctc2(Register::nistat, nistat::lpee | nistat::ame | nistat::hpmm | nistat::lpmm | nistat::tm);
    ni.ctc2(Register::enable, 1);
  }
  return processors;
}

Machine::Machine(const Mesh::Shape& shape)
    : processors_(made(shape.rows * shape.columns)), mesh_(shape, interfaces(processors_)), alarm_(nodes()) {
  awake_ = kit::NodeSet(nodes());
  for (NodeNumber node = 0; node < nodes(); ++node) {
    processors_[node]->is_stepped_by(cycles_, {awake_, node});
    awake_.put(node);
  }
}

std::vector<NetworkInterface*> Machine::interfaces(const Processors& processors) {
  std::vector<NetworkInterface*> all;
  for (const std::unique_ptr<Processor>& processor : processors) all.push_back(&processor->ni());
  return all;
}

void Machine::add_hardware_handlers(Memories& memories) {
  for (NodeNumber node = 0; node < nodes(); ++node)
    hardware_.emplace_back(processors_[node]->ni(), memories.of(node), nodes());
}

void Machine::step(std::span<const NodeNumber> order) {
  mesh_.step(order);
  if (order.empty()) {
    if (cycles_ >= first_alarm_) wake_for_timelets();
    awake_.for_each([this](NodeNumber node) { step(node); });
  } else {
    for (const NodeNumber node : order) step(node);
  }
  ++cycles_;
}

void Machine::step(NodeNumber node) {
  Processor& processor = *processors_[node];
  if (!hardware_.empty()) hardware_[node].step();
  processor.step();
  if (!processor.has_nothing_to_do() || !(hardware_.empty() || hardware_[node].has_nothing_to_do())) return;
  awake_.erase(node);
  alarm_[node] = cycles_ + processor.until_timelet();
  first_alarm_ = std::min(first_alarm_, alarm_[node]);
}

void Machine::wake_for_timelets() {
  first_alarm_ = ~Cycle{0};
  for (NodeNumber node = 0; node < nodes(); ++node) {
    if (alarm_[node] <= cycles_) {
      awake_.put(node);
    } else {
      first_alarm_ = std::min(first_alarm_, alarm_[node]);
    }
  }
}

bool Machine::cannot_go_on(Cycle patience) {
  constexpr Cycle while_programs_run = 100;  // times as long
  if (mesh_.under_way() != 0) return mesh_.still_for() > patience;
  const Cycle quiet = std::min(now() - busy_at_, mesh_.still_for());
  if (quiet <= patience) return false;
  const auto any = [this](auto is_so) {
    return std::ranges::any_of(processors_, [&](const auto& processor) { return is_so(*processor); });
  };
  if (awake_.empty() && mesh_.is_idle() && !any([](const Processor& each) { return each.awaits_timelet(); }))
    return true;
  if (quiet <= while_programs_run * patience) return false;
  if (!any([&](const Processor& each) { return each.is_busy_for(patience); })) return true;
  busy_at_ = now();
  return false;
}

std::string Machine::who_waits() const {
  if (mesh_.under_way() != 0) return mesh_.who_waits();
  std::string text;
  for (const std::unique_ptr<Processor>& processor : processors_) {
    if (const std::string line = processor->state(); !line.empty()) text += line + '\n';
  }
  return text.empty() ? "all programs have ended\n" : text;
}

void Machine::throw_who_waits() const {
  const char* const what =
      mesh_.under_way() != 0 ? "t1: nothing has moved for " : "t1: no message has been under way for ";
  throw std::runtime_error(what + std::to_string(mesh_.still_for()) + " cycles:\n" + who_waits());
}

void Machine::record(kit::Trace* trace) {
  mesh_.record(trace);
  for (const std::unique_ptr<Processor>& processor : processors_) processor->record(trace);
}

kit::Trace::Names trace_names(std::string title) {
  return {.title = std::move(title),
          .messages = {"low", "high", "low multicast", "high multicast"},
          .activities = {"computes", "SEND", "dispatch", "handler", "HRET"}};
}

}  // namespace am::t1
