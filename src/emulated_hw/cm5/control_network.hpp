// The control network of a partition of the CM-5 under the clock (von Eicken 1993, 3.2.3): barrier, broadcast, integer reduction and scan, by all
// of its processors together; and the partition manager's commands, which go to all of them and interrupt them, whatever becomes of the data
// network. Words are combined as in the live one (live_control.hpp).
//
// "While individual processors can abstain from a control network operation, it is not possible to use the control network among processor
// subsets without interference": an operation is over when all that do not abstain have taken part, and they are to agree which one it is.
// Operations of the operating system come first.
//
// Assumed, since the text says nothing of it: a tree of four children and the data network's levels, 8 cycles a level, up and down again; one
// operation at a time; a scan has what the nodes before it gave.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "emulated_hw/cm5/live_control.hpp"
#include "emulated_hw/cm5/network.hpp"
#include "emulated_hw/kit/waits.hpp"

namespace am::cm5 {

class ControlNetwork final : private LiveControl::Nodes {
 public:
  /// Of a partition, whose nodes have their numbers in it. Throws std::invalid_argument.
  explicit ControlNetwork(NodeNumber nodes)
      : levels_(Tree(nodes).levels()),
        nodes_(nodes),
        memory_(LiveControl::bytes(nodes) / sizeof(Line)),
        tree_(nodes, memory_.front().bytes, *this) {}

  /// From its last part in the operation until all have the result, where none is before it.
  [[nodiscard]] Cycle latency() const noexcept { return Cycle{2} * levels_ * hop_cycles; }

  /// A node takes its part. Throws std::logic_error where it has one under way, abstains, or disagrees with others.
  void take_part(NodeNumber node, const ControlOperation& operation, kit::Word value = 0);
  /// Operations are over without this node, from now on or no more. Throws std::logic_error where one is under way, or
  /// waits for others.
  void abstain(NodeNumber node, bool on);
  /// Of the operation that is over at this node, once: 0 where there is none, as before the first of a scan.
  [[nodiscard]] std::optional<kit::Word> result(NodeNumber node) {
    if (!std::exchange(nodes_.at(node).has_result, false)) return std::nullopt;
    return tree_.result(node, number_)->value;
  }

  /// The partition manager's, to all nodes, also those that abstain.
  void command(Word word) { commands_.push_back(word); }
  /// A node is interrupted, until it has taken what it is told.
  [[nodiscard]] bool interrupts(NodeNumber node) const { return nodes_.at(node).heard != told_; }
  [[nodiscard]] Word take_command(NodeNumber node) { return commands_[nodes_.at(node).heard++]; }

  [[nodiscard]] Cycle now() const noexcept { return now_; }
  void step();
  /// Adds each node that has taken part, and waits for others.
  void add_waits(kit::Waits& waits) const;

 private:
  struct Node {
    bool abstains = false;
    bool takes_part = false;
    bool has_result = false;
    kit::Word value = 0;
    std::size_t heard = 0;  // of commands_
  };
  enum class Carried : std::uint8_t { nothing, command, operation };
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  /// Whether it is the last part that makes an operation complete, or a node that abstains.
  [[nodiscard]] bool all_take_part() const { return parts_ != 0 && parts_ + abstaining_ == nodes_.size(); }
  void combine();
  void has_result(NodeNumber /*node*/) noexcept override {}

  unsigned levels_;
  std::vector<Node> nodes_;
  std::vector<Line> memory_;
  LiveControl tree_;
  kit::Word number_ = 0;          // of the last operation that was over
  ControlOperation operation_{};  // of those that take part
  NodeNumber parts_ = 0;          // nodes that have taken it
  NodeNumber abstaining_ = 0;
  std::vector<Word> commands_;  // all there have been
  std::size_t told_ = 0;        // of these
  Carried carried_ = Carried::nothing;
  Cycle free_at_ = 0;
  Cycle now_ = 0;
};

}  // namespace am::cm5
