// What the programs of this folder cost on a CNS-1 of two neighbours: each in a machine of its own that does nothing else.
#pragma once

#include "emulated_hw/t1/mesh.hpp"

namespace am::t1 {

struct ProgramCosts {
  // Of a handler, in all: dispatch, execution, return (T1 report, 3.9).
  Cycle put_handler = 0;  ///< Split-C: with its acknowledgement
  Cycle done_handler = 0;
  Cycle inlet = 0;          ///< TAM: of a word that others have to come for yet
  Cycle posting_inlet = 0;  ///< the last of them: posts a thread of a frame that had none

  // From the call until it is complete.
  Cycle put = 0;  ///< and sync
  Cycle get = 0;
  Cycle fetch_and_add = 0;

  Cycle stolen_by_outlet = 0;  ///< of the computation, by a piece of 32 words of a transfer in the background
};
[[nodiscard]] ProgramCosts program_costs();

}  // namespace am::t1
