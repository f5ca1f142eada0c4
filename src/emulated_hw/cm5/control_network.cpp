#include "emulated_hw/cm5/control_network.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace am::cm5 {

namespace {

using Operation = ControlNetwork::Operation;

Word combined(Operation operation, Word one, Word other) {
  if (operation == Operation::add || operation == Operation::scan_add) return one + other;
  return static_cast<Word>(std::max(static_cast<std::int32_t>(one), static_cast<std::int32_t>(other)));
}
constexpr bool is_scan(Operation operation) noexcept {
  return operation == Operation::scan_add || operation == Operation::scan_maximum;
}

}  // namespace

void ControlNetwork::take_part(NodeNumber number, Operation operation, std::optional<Word> value) {
  Node& node = nodes_.at(number);
  const auto refuse = [number](const char* why) {
    throw std::logic_error("cm5: node " + std::to_string(number) + " in the control network " + why);
  };
  if (node.takes_part || node.result) refuse("has not done with its operation");
  if (node.abstains) refuse("takes part, and abstains");
  if (parts_ != 0 && operation != operation_) refuse("takes part in another operation than the others");
  if (operation == Operation::barrier ? value.has_value() : operation != Operation::broadcast && !value)
    refuse("has a value in a barrier, or else none");
  if (operation == Operation::broadcast && value &&
      std::ranges::any_of(nodes_, [](const Node& other) { return other.value.has_value(); }))
    refuse("broadcasts, as does another");
  operation_ = operation;
  node.takes_part = true;
  node.value = value;
  ++parts_;
}

void ControlNetwork::abstain(NodeNumber number, bool on) {
  Node& node = nodes_.at(number);
  if (node.takes_part || carries_operation_)
    throw std::logic_error("cm5: node " + std::to_string(number) +
                           " abstains, or ceases to, while an operation is under way");
  if (std::exchange(node.abstains, on) != on) abstaining_ += on ? 1 : NodeNumber{0} - 1;
}

std::optional<Word> ControlNetwork::result(NodeNumber node) {
  return std::exchange(nodes_.at(node).result, std::nullopt);
}

void ControlNetwork::command(Word word) { commands_.push_back(word); }

Word ControlNetwork::take_command(NodeNumber node) {
  std::vector<Word>& commands = nodes_.at(node).commands;
  const Word first = commands.front();
  commands.erase(commands.begin());
  return first;
}

/// Whether it is the last part that makes an operation complete, or a node that abstains.
bool ControlNetwork::all_take_part() const { return parts_ != 0 && parts_ + abstaining_ == nodes_.size(); }

void ControlNetwork::step() {
  if (free_at_ <= now_) {
    if (!commands_.empty()) {
      carries_command_ = true;
      free_at_ = now_ + latency();
    } else if (all_take_part()) {
      carries_operation_ = true;
      free_at_ = now_ + latency();
    }
  }
  ++now_;
  if (free_at_ != now_) return;
  if (std::exchange(carries_command_, false)) {
    for (Node& node : nodes_) node.commands.push_back(commands_.front());
    commands_.erase(commands_.begin());
  }
  if (std::exchange(carries_operation_, false)) combine();
}

/// In the order of nodes.
void ControlNetwork::combine() {
  std::optional<Word> all;
  for (Node& node : nodes_) {
    if (!node.takes_part) continue;
    if (node.value) all = all ? combined(operation_, *all, *node.value) : *node.value;
    if (is_scan(operation_)) node.result = all;
  }
  for (Node& node : nodes_) {
    if (!std::exchange(node.takes_part, false)) continue;
    if (!is_scan(operation_)) node.result = all.value_or(0);
    node.value.reset();
  }
  parts_ = 0;
}

void ControlNetwork::add_waits(kit::Waits& waits) const {
  if (parts_ == 0 || all_take_part()) return;
  std::vector<std::string> behind;
  for (NodeNumber node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].takes_part && !nodes_[node].abstains) behind.push_back("node " + std::to_string(node));
  }
  for (NodeNumber node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].takes_part) continue;
    const std::string place = "node " + std::to_string(node);
    waits.add(place,
              place + ": in the control network, waits for " + behind.front() + " and " +
                  std::to_string(behind.size() - 1) + " others",
              behind);
  }
}

}  // namespace am::cm5
