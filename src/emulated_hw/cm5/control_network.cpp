#include "emulated_hw/cm5/control_network.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace am::cm5 {

ControlNetwork::ControlNetwork(NodeNumber nodes)
    : levels_(Tree(nodes).levels()),
      nodes_(nodes),
      memory_(LiveControl::bytes(nodes) / sizeof(Line)),
      tree_(nodes, memory_.front().bytes, *this) {}

void ControlNetwork::take_part(NodeNumber number, const ControlOperation& operation, kit::Word value) {
  Node& node = nodes_.at(number);
  const auto refuse = [number](const char* why) {
    throw std::logic_error("cm5: node " + std::to_string(number) + " in the control network " + why);
  };
  if (node.takes_part || node.has_result) refuse("has not done with its operation");
  if (node.abstains) refuse("takes part, and abstains");
  if (parts_ != 0 && operation.bits() != operation_.bits())
    refuse("takes part in another operation than the others");
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

std::optional<kit::Word> ControlNetwork::result(NodeNumber node) {
  if (!std::exchange(nodes_.at(node).has_result, false)) return std::nullopt;
  return tree_.result(node, number_)->value;
}

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

/// Who abstains gives nothing.
void ControlNetwork::combine() {
  ++number_;
  for (NodeNumber number = 0; number < nodes_.size(); ++number) {
    Node& node = nodes_[number];
    node.has_result = std::exchange(node.takes_part, false);
    tree_.take_part(number, number_, {operation_.bits(), node.value, node.has_result});
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
