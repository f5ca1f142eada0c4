// What a T1's ordinary instructions cost in the programs of this folder, beside those of its network interface (processor.hpp).
//
// The report gives none of these. Assumed: a pipeline that issues one instruction per cycle; loads hit the cache, "neglecting I-cache
// misses" too (T1 report, 3.10); other instructions fill the delay slots of loads and branches, but in loops that only wait, which have
// nothing to fill them with.
#pragma once

#include "emulated_hw/t1/memory.hpp"

namespace am::t1::costs {

inline constexpr unsigned move = 1;    ///< a word into a register of a message, or out of one
inline constexpr unsigned load = 1;    ///< a word
inline constexpr unsigned store = 1;   ///< a word
inline constexpr unsigned add = 1;     ///< any arithmetic
inline constexpr unsigned branch = 1;  ///< its delay slot filled
inline constexpr unsigned look = 2;    ///< beq, nop: 3.3's busy-wait on a flag that is in a shared register

/// A vector register to or from memory.
constexpr unsigned vector(unsigned words) noexcept { return memory_cycles(words); }

}  // namespace am::t1::costs
