// A thread of one cluster of the MAP chip, as its instructions issue: in order, each when all its operands are there and its units
// are free. A program calls issue() for each operation in turn and is told when the result is there: nothing is computed, so a program
// of a thousand messages is simulated in the time of its calls.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.1.1 (issue by scoreboard), Figure 3-2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "emulated_hw/mmachine/costs/instruction.hpp"
#include "emulated_hw/mmachine/costs/parameters.hpp"

namespace am::mmachine::costs {

class Cluster {
 public:
  /// Beside the operation before it, in one instruction, where its unit is free there and its operands are there then: as who
  /// writes three-operation instructions by hand would pack them without changing their order. Else in the next instruction.
  Register issue(const Operation& operation) noexcept;

  /// One instruction as it is written: its operations issue together. `results` gets a register for each operation.
  void issue(std::span<const Operation> instruction, std::span<Register> results) noexcept;

  /// A jump, to an address that `target` holds: what follows issues after the delay, whose slots nobody else can use.
  void jump(Register target = {}) noexcept;

  // The operations of which programs are made.
  Register compute(Register a = {}, Register b = {}) noexcept { return issue({.reads = {a, b}}); }
  Register move(Register from) noexcept { return issue({.unit = Unit::ialu, .reads = {from}}); }
  /// Pointers are computed by the memory unit, as in the listing in 3.2.3.
  Register lea(Register base = {}) noexcept { return issue({.unit = Unit::memu, .reads = {base}}); }
  Register load(Register address = {}, Cycle latency = load_cycles) noexcept {
    return issue({.unit = Unit::memu, .reads = {address}, .latency = latency});
  }
  /// Its result is when memory, or a device, has it.
  Register store(Register address, Register value, Cycle latency = store_cycles) noexcept {
    return issue({.unit = Unit::memu, .reads = {address, value}, .latency = latency});
  }

  /// What follows goes into another instruction.
  void end_instruction() noexcept { open_ = false; }
  /// What takes so long, and so many slots, in one piece.
  void spend(Cycle cycles, std::uint64_t slots) noexcept;
  /// Nothing issues before.
  void wait_until(Cycle cycle) noexcept;

  [[nodiscard]] Cycle last_issue() const noexcept { return cycle_; }
  /// The earliest cycle of the next instruction.
  [[nodiscard]] Cycle next_issue() const noexcept { return earliest_; }
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }

 private:
  static constexpr std::size_t units = 3;
  using Busy = std::array<bool, units>;

  [[nodiscard]] static bool take(Busy& busy, Unit unit) noexcept;
  void start_instruction(Cycle ready) noexcept;

  Cycle cycle_ = 0;     // of the last instruction
  Cycle earliest_ = 0;  // of the next one
  bool open_ = false;   // whether an operation may still join the last one
  Busy busy_{};         // its units
  std::uint64_t slots_ = 0;
};

}  // namespace am::mmachine::costs
