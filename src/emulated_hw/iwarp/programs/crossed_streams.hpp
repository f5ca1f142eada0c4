// A systolic program that needs longer queues than the cells have (Borkar et al. 1990, 2.2, 7.2; Kung, Deadlock Avoidance for Systolic
// Communication, 1988).
//
// Cell 0 sends all of one stream, then all of another. Cell 1 reads the second one first. When the queues of the first stream are full, each waits
// for the other. Where cell 1 extends the first queue into its memory, the same program ends.
#pragma once

#include "emulated_hw/iwarp/machine.hpp"

namespace am::iwarp {

/// Streams of so many words: how many cycles they took. Throws std::runtime_error, which names the circle, where they stop for ever;
/// std::logic_error where a word is not the one that was sent.
[[nodiscard]] Cycle crossed_streams(unsigned words, bool extends);

}  // namespace am::iwarp
