#include "emulated_hw/cm5/control_network.hpp"

#include <stdexcept>
#include <string>

namespace am::cm5 {

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
  if (node.takes_part || carried_ == Carried::operation)
    throw std::logic_error("cm5: node " + std::to_string(number) +
                           " abstains, or ceases to, while an operation is under way");
  if (std::exchange(node.abstains, on) != on) abstaining_ += on ? 1 : NodeNumber{0} - 1;
}

void ControlNetwork::step() {
  if (free_at_ <= now_) {
    carried_ = told_ != commands_.size() ? Carried::command
               : all_take_part()         ? Carried::operation
                                         : Carried::nothing;
    if (carried_ != Carried::nothing) free_at_ = now_ + latency();
  }
  if (++now_ != free_at_) return;
  const Carried has_come = std::exchange(carried_, Carried::nothing);
  if (has_come == Carried::command) ++told_;
  if (has_come == Carried::operation) combine();
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
