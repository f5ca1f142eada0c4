#include "emulated_hw/mmachine/costs/cluster.hpp"

#include <algorithm>
#include <cstddef>

namespace am::mmachine::costs {

namespace {

Cycle ready(const Operation& operation) noexcept {
  Cycle latest = 0;
  for (const Register& operand : operation.reads) latest = std::max(latest, operand.ready);
  return latest;
}

constexpr std::size_t index(Unit unit) noexcept { return static_cast<std::size_t>(unit); }

}  // namespace

bool Cluster::take(Busy& busy, Unit unit) noexcept {
  if (unit == Unit::any_integer) return take(busy, Unit::ialu) || take(busy, Unit::memu);
  if (busy[index(unit)]) return false;
  busy[index(unit)] = true;
  return true;
}

void Cluster::start_instruction(Cycle ready) noexcept {
  cycle_ = std::max(earliest_, ready);
  earliest_ = cycle_ + 1;
  busy_ = {};
}

Register Cluster::issue(const Operation& operation) noexcept {
  const Cycle operands = ready(operation);
  if (!open_ || operands > cycle_ || !take(busy_, operation.unit)) {
    start_instruction(operands);
    open_ = take(busy_, operation.unit);
  }
  slots_ += operation.slots;
  return {cycle_ + operation.latency};
}

void Cluster::issue(std::span<const Operation> instruction, std::span<Register> results) noexcept {
  Cycle operands = 0;
  for (const Operation& operation : instruction) operands = std::max(operands, ready(operation));
  start_instruction(operands);
  open_ = false;
  for (std::size_t i = 0; i < instruction.size(); ++i) {
    slots_ += instruction[i].slots;
    results[i] = {cycle_ + instruction[i].latency};
  }
}

void Cluster::jump(Register target) noexcept {
  (void)issue({.unit = Unit::ialu, .reads = {target}, .slots = jump_cycles});
  wait_until(cycle_ + jump_cycles);
}

void Cluster::spend(Cycle cycles, std::uint64_t slots) noexcept {
  slots_ += slots;
  wait_until(earliest_ + cycles);
}

void Cluster::wait_until(Cycle cycle) noexcept {
  earliest_ = std::max(earliest_, cycle);
  open_ = false;
}

}  // namespace am::mmachine::costs
