#include "emulated_hw/mmachine/instruction_stream.hpp"

#include <algorithm>

namespace am::mmachine {

namespace {

Cycle ready(const Operation& operation) noexcept {
  Cycle latest = 0;
  for (const Register& operand : operation.reads) latest = std::max(latest, operand.ready);
  return latest;
}

constexpr std::size_t index(Unit unit) noexcept { return static_cast<std::size_t>(unit); }

}  // namespace

bool InstructionStream::take(Busy& busy, Unit unit) noexcept {
  if (unit == Unit::any_integer) return take(busy, Unit::ialu) || take(busy, Unit::memu);
  if (busy[index(unit)]) return false;
  busy[index(unit)] = true;
  return true;
}

Register InstructionStream::issue(const Operation& operation) noexcept {
  const Cycle operands = ready(operation);
  if (!open_ || operands > cycle_ || !take(busy_, operation.unit)) {
    cycle_ = std::max(earliest_, operands);
    earliest_ = cycle_ + 1;
    busy_ = {};
    open_ = take(busy_, operation.unit);
  }
  slots_ += operation.slots;
  return {cycle_ + operation.latency};
}

void InstructionStream::jump(Register target) noexcept {
  issue({.unit = Unit::ialu, .reads = {target}, .slots = jump_cycles});
  wait_until(cycle_ + jump_cycles);
}

void InstructionStream::spend(Cycle cycles, std::uint64_t slots) noexcept {
  slots_ += slots;
  wait_until(earliest_ + cycles);
}

void InstructionStream::wait_until(Cycle cycle) noexcept {
  earliest_ = std::max(earliest_, cycle);
  open_ = false;
}

}  // namespace am::mmachine
