// What the programs of this folder cost on a CNS-1 of two neighbours, of which one computes: each in a machine of its own that does nothing
// else.
#pragma once

#include <cstdint>

#include "emulated_hw/t1/mesh.hpp"

namespace amsim::t1 {

using namespace am::t1;

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

/// By split_c.hpp or hardware_transfer.hpp: the question of the T1 report's 3.9, whether handlers in hardware are worth the trouble.
enum class HandledBy : std::uint8_t { software, hardware };

struct TransferCosts {
  Cycle took = 0;  ///< from the call until it is complete, sync included
  // Of processors:
  Cycle asking = 0;    ///< of node 0, the call without sync
  Cycle answered = 0;  ///< of node 0, in handlers
  Cycle stolen = 0;    ///< of node 1, in handlers
};
/// Of up to 1024 words: one by get, or more by bulk_get; or by bulk_put.
[[nodiscard]] TransferCosts get_costs(HandledBy by, Word words);
[[nodiscard]] TransferCosts put_costs(HandledBy by, Word words);

}  // namespace amsim::t1
