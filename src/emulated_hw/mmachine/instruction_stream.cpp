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

std::size_t InstructionStream::place_of(Unit unit) const noexcept {
  if (unit != Unit::any_integer) return index(unit);
  return index(busy_[index(Unit::ialu)] ? Unit::memu : Unit::ialu);
}

bool InstructionStream::joins(const Operation& operation, Cycle now) const noexcept {
  return open_ && now == cycle_ && ready(operation) <= now && !busy_[place_of(operation.unit)];
}

Cycle InstructionStream::earliest(const Operation& operation) const noexcept {
  return std::max(earliest_, ready(operation));
}

Register InstructionStream::issue(const Operation& operation, Cycle now) noexcept {
  if (!joins(operation, now)) {
    cycle_ = now;
    earliest_ = now + 1;
    open_ = true;
    busy_ = {};
  }
  busy_[place_of(operation.unit)] = true;
  slots_ += operation.slots;
  return {now + operation.latency};
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
