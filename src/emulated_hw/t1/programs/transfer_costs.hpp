// What gets and puts cost on a CNS-1 of two neighbours, by handlers in software (split_c.hpp) and in hardware (hardware_transfer.hpp): the
// question of the T1 report's 3.9, whether these are worth the trouble. Each in a machine of its own that does nothing else.
#pragma once

#include <cstdint>

#include "emulated_hw/t1/mesh.hpp"
#include "emulated_hw/t1/message.hpp"

namespace am::t1 {

enum class HandledBy : std::uint8_t { software, hardware };

struct TransferCosts {
  Cycle took = 0;  ///< from the call until it is complete, sync included
  // Of processors:
  Cycle asking = 0;    ///< of node 0, the call without sync
  Cycle answered = 0;  ///< of node 0, in handlers
  Cycle stolen = 0;    ///< of node 1, in handlers
};
/// Of so many words: one by get, or more by bulk_get; or by bulk_put.
[[nodiscard]] TransferCosts get_costs(HandledBy by, Word words);
[[nodiscard]] TransferCosts put_costs(HandledBy by, Word words);

}  // namespace am::t1
