// Short messages of CMAM and CMAML: a handler's word, four words, and which of them are doubles.
#pragma once

#include <am/message.hpp>

#include "models/cmam/state.hpp"

namespace am::models::cmam {

/// Calls a function of the old program. It may declare fewer parameters, and narrower ones: the calling conventions of x86-64 and
/// AArch64 pass integers and pointers in the same registers whatever their width.
inline void call(Code function, Word a0, Word a1, Word a2, Word a3) {
  reinterpret_cast<void (*)(Word, Word, Word, Word)>(function)(a0, a1, a2, a3);
}

/// Sends a message that was put off. In the computation.
void request_of_computation(Node& node, const PutOff& message);

}  // namespace am::models::cmam
