// What handlers do with a vector that has come, in programs for the T1.
#pragma once

#include <algorithm>

#include "emulated_hw/t1/nistat.hpp"
#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

/// Into its node's memory, in one access with what else the handler does in so many cycles.
inline Program store_vector(Processor& cpu, Memories& memories, Word offset, unsigned more_cycles = 0) {
  const Word words = nistat::vlen(co_await cpu.cfc2(Register::nistat));
  co_await cpu.cycles(costs::move + costs::vector(words) + more_cycles);  // vlr
  std::ranges::copy_n(cpu.registers().vr1.begin(), words,
                      memories.block(node_of(cpu), offset, words).begin());
}

}  // namespace am::t1
