// What a cluster of the MAP chip issues: an instruction is up to three operations, one each for its integer unit, its memory unit
// (which also computes with integers) and its floating-point unit. Only what decides when they issue: units, registers, latencies.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.1, 3.1.1 and the text to Figure 3-2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace am::mmachine::costs {

using Cycle = std::uint64_t;

enum class Unit : std::uint8_t {
  ialu,
  memu,
  falu,
  any_integer,  ///< the first of IALU and MEMU that is free
};

/// A register, named by when its value is there: what the scoreboard's presence bit turns to at that cycle. Programs here hold a
/// new one for each value, and what a small register file costs them is stated by who allocates (injection.hpp, translation.hpp).
struct Register {
  Cycle ready = 0;
};

/// What an operation reads decides when it may issue, what it makes is there after its latency.
struct Operation {
  static constexpr std::size_t most_operands = 3;

  Unit unit = Unit::any_integer;
  std::array<Register, most_operands> reads{};
  Cycle latency = 1;        ///< of its result: 1 is "in the immediately following cycle"
  std::uint64_t slots = 1;  ///< issue opportunities that it takes from the program
};

}  // namespace am::mmachine::costs
