// How a thread's instructions issue: in order, each when all its operands are there. An instruction is up to three operations, one each for
// the integer unit, the memory unit (which also computes with integers) and the floating-point unit. Nothing is computed: an operation
// is what decides when it issues, its unit, registers and latency.
//
// A program gives its operations one by one. One goes into the instruction of the operation before it, if its unit is free there and its
// operands are there by then: as a person packs instructions by hand without changing their order. Else it begins the next one.
//
// Threads of a chip issue by it under the clock, in cycles that their cluster gives them (Thread::issue). The cost model of chapter 6 calls it
// without a clock: there each thread has its cluster for itself, so a program of a thousand messages takes the time of its calls.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.1, 3.1.1 (issue by scoreboard) and the text to Figure 3-2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/kit/cycle.hpp"

namespace am::mmachine {

using kit::Cycle;

/// Printed: "a jump delay (3 cycles)", 3.2.
inline constexpr unsigned jump_cycles = 3;
/// Printed: the consumer of a remote write takes another 3 cycles to read, 3.1.
inline constexpr Cycle load_cycles = 3;
/// Printed: write and read of local memory take 6 together, 3.1.
inline constexpr Cycle store_cycles = 3;

enum class Unit : std::uint8_t {
  ialu,
  memu,
  falu,
  any_integer,  ///< the first of IALU and MEMU that is free
};

/// A register, named by the cycle from which its value is there: the scoreboard's presence bit. Programs have a new one for each value. Where
/// so many registers are too many, their programs say what that costs.
struct Register {
  Cycle ready = 0;
};

struct Operation {
  static constexpr std::size_t most_operands = 3;

  Unit unit = Unit::any_integer;
  std::array<Register, most_operands> reads{};
  Cycle latency = 1;        ///< of its result: 1 is "in the immediately following cycle"
  std::uint64_t slots = 1;  ///< issue opportunities that it takes from the program
};

/// The operations of which programs are made.
namespace op {
constexpr Operation compute(Register a = {}, Register b = {}) noexcept { return {.reads = {a, b}}; }
constexpr Operation move(Register from) noexcept { return {.unit = Unit::ialu, .reads = {from}}; }
/// The memory unit computes pointers, as in the listing in 3.2.3.
constexpr Operation lea(Register base = {}) noexcept { return {.unit = Unit::memu, .reads = {base}}; }
constexpr Operation load(Register address = {}) noexcept {
  return {.unit = Unit::memu, .reads = {address}, .latency = load_cycles};
}
/// Its result is when memory, or a device, has it.
constexpr Operation store(Register address, Register value, Cycle latency = store_cycles) noexcept {
  return {.unit = Unit::memu, .reads = {address, value}, .latency = latency};
}
}  // namespace op

class InstructionStream {
 public:
  /// Whether it goes beside the operation before it, in the instruction of this cycle.
  [[nodiscard]] bool joins(const Operation& operation, Cycle now) const noexcept {
    return open_ && now == cycle_ && ready(operation) <= now && !busy_[place_of(operation.unit)];
  }
  /// The first cycle of an instruction that could begin with it.
  [[nodiscard]] Cycle earliest(const Operation& operation) const noexcept {
    return std::max(earliest_, ready(operation));
  }
  /// Issues in this cycle, in which it joins or not before which its operands are there.
  Register issue(const Operation& operation, Cycle now) noexcept {
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
  /// Issues as soon as it can.
  Register issue(const Operation& operation) noexcept {
    return issue(operation, joins(operation, cycle_) ? cycle_ : earliest(operation));
  }

  /// A jump, to an address that `target` holds: what follows issues after the delay, whose slots nobody else can use.
  void jump(Register target = {}) noexcept {
    issue({.unit = Unit::ialu, .reads = {target}, .slots = jump_cycles});
    wait_until(cycle_ + jump_cycles);
  }
  /// What follows goes into another instruction.
  void end_instruction() noexcept { open_ = false; }
  /// What takes so long, and so many slots, in one piece.
  void spend(Cycle cycles, std::uint64_t slots) noexcept {
    slots_ += slots;
    wait_until(earliest_ + cycles);
  }
  /// Nothing issues before.
  void wait_until(Cycle cycle) noexcept {
    earliest_ = std::max(earliest_, cycle);
    open_ = false;
  }

  [[nodiscard]] Cycle last_issue() const noexcept { return cycle_; }
  /// The earliest cycle of the next instruction.
  [[nodiscard]] Cycle next_issue() const noexcept { return earliest_; }
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }

 private:
  static constexpr std::size_t units = 3;

  static constexpr std::size_t index(Unit unit) noexcept { return static_cast<std::size_t>(unit); }
  static Cycle ready(const Operation& operation) noexcept {
    Cycle latest = 0;
    for (const Register& operand : operation.reads) latest = std::max(latest, operand.ready);
    return latest;
  }
  [[nodiscard]] std::size_t place_of(Unit unit) const noexcept {
    if (unit != Unit::any_integer) return index(unit);
    return index(busy_[index(Unit::ialu)] ? Unit::memu : Unit::ialu);
  }

  Cycle cycle_ = 0;                 // of the last instruction
  Cycle earliest_ = 0;              // of the next one
  bool open_ = false;               // whether an operation may still join the last one
  std::array<bool, units> busy_{};  // of the last one
  std::uint64_t slots_ = 0;
};

}  // namespace am::mmachine
