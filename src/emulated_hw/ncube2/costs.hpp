// What instructions of the NCUBE 6400 take, in cycles of 50 ns (von Eicken 1993, 3.1.1, 3.1.2, Figure 3-2). Memory's cycles are in
// engines.hpp. In the text the rows of the execution column and its numbers stand apart; they are read in order.
//
// Assumed: an instruction takes the time of its operands and that of its execution, one behind the other ("the cycle times shown are
// approximate: the execute unit operates in parallel"); it is fetched in no time, from the prefetch buffer; the operand cache finds nothing.
#pragma once

namespace am::ncube2::costs {

/// To fetch an operand, DRAM's time not included, by addressing mode.
namespace operand {
inline constexpr unsigned in_register = 2;     ///< rN
inline constexpr unsigned indirect = 4;        ///< (rN)
inline constexpr unsigned auto_decrement = 5;  ///< -(rN)
inline constexpr unsigned auto_increment = 5;  ///< (rN)+
inline constexpr unsigned offset = 4;          ///< o(rN)
inline constexpr unsigned stack_offset = 4;    ///< o(sp)
inline constexpr unsigned stack = 5;           ///< stk
inline constexpr unsigned immediate = 2;       ///< #N
inline constexpr unsigned absolute = 4;        ///< N
}  // namespace operand

/// To execute, after the operands: integers and floating point, from the least to the most that the figure prints.
struct Range {
  unsigned least, most;
};
struct Execution {
  Range integer, floating;
};
inline constexpr unsigned move = 1;
inline constexpr Execution add = {{1, 1}, {7, 7}};  ///< and what is like it
inline constexpr Execution multiply = {{4, 11}, {6, 10}};
inline constexpr Execution divide = {{14, 38}, {7, 31}};
inline constexpr Execution remainder = {{13, 38}, {6, 69}};
inline constexpr unsigned shift = 4;
inline constexpr unsigned find_first_one = 3;  ///< and rotate
inline constexpr unsigned logic = 1;

/// "The trap or interrupt itself costs a dozen of cycles because the change of privilege level breaks the instruction prefetch".
inline constexpr unsigned trap = 12;
inline constexpr unsigned reti = trap;  ///< assumed: it changes the privilege level, too

// The text has no time for these. Assumed: their operands', and a cycle.
inline constexpr unsigned branch = operand::immediate + 1;
inline constexpr unsigned jump = operand::in_register + 1;
inline constexpr unsigned privileged =
    operand::in_register + operand::immediate + 1;  ///< lptr, lcnt, ldpr, stpr

// What the kernel's and CMAM's code is made of.
inline constexpr unsigned load = operand::offset + operand::in_register + move;
inline constexpr unsigned store = operand::in_register + operand::offset + move;
inline constexpr unsigned push = operand::in_register + operand::stack + move;
inline constexpr unsigned pop = operand::stack + operand::in_register + move;
inline constexpr unsigned bitwise = operand::in_register + operand::in_register + logic;
inline constexpr unsigned compare_and_branch =
    operand::in_register + operand::immediate + add.integer.least + branch;
inline constexpr unsigned first_bit = 2 * operand::in_register + find_first_one;

/// Assumed: the kernel uses the registers that a caller saves, R0 to R5, of 64 bits.
inline constexpr unsigned saved_registers = 6;
inline constexpr unsigned saved_words = 2 + 2 * saved_registers;  ///< PC and PSW, too

}  // namespace am::ncube2::costs
