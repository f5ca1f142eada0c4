#include "emulated_hw/cm5/live_control.hpp"

namespace am::cm5 {

// The line above the last switch is nobody's.
LiveControl::LiveControl(NodeNumber nodes, std::byte* memory, Nodes& nodes_to_tell) noexcept
    : lines_(reinterpret_cast<Line*>(memory)), nodes_to_tell_(nodes_to_tell) {
  for (NodeNumber children = nodes;; children = (children + Tree::children - 1) / Tree::children) {
    children_[levels_] = children;
    first_[levels_++] = lines_of_all_;
    lines_of_all_ += children;
    if (children <= Tree::children) return;
  }
}

std::size_t LiveControl::bytes(NodeNumber nodes) noexcept {
  std::size_t lines = nodes;
  for (NodeNumber children = nodes; children > Tree::children; lines += children)
    children = (children + Tree::children - 1) / Tree::children;
  return places * lines * sizeof(Line);
}

LiveControl::Part LiveControl::joined(const Part& before, const Part& behind) noexcept {
  if (before.what != behind.what) return {.what = 0};
  if (behind.cut || !before.any) return {behind.what, behind.value, behind.any, before.cut || behind.cut};
  if (!behind.any) return before;
  const Combiner combiner = ControlOperation::of(before.what).combiner;
  return {before.what, combined(combiner, before.value, behind.value), true, before.cut};
}

std::optional<LiveControl::Part> LiveControl::result(NodeNumber node, kit::Word number) const noexcept {
  const Line& its = line(number, 0, node);
  if (its.over.load(std::memory_order_seq_cst) != number)
    return std::nullopt;  // acquires what conclude() released
  return Part{its.agreed.load(std::memory_order_acquire), its.result.load(std::memory_order_relaxed),
              (its.found.load(std::memory_order_relaxed) & any_flag) != 0};
}

std::optional<kit::Word> LiveControl::what_of(NodeNumber node, kit::Word number) const noexcept {
  const Line& its = line(number, 0, node);
  if (its.arrived.load(std::memory_order_seq_cst) != number)
    return std::nullopt;  // acquires what publish() released
  return its.what.load(std::memory_order_relaxed);
}

}  // namespace am::cm5
