// An active message there and one back, between two nodes of an nCUBE/2 that do nothing else.
#pragma once

#include "emulated_hw/kit/trace.hpp"
#include "emulated_hw/ncube2/machine.hpp"

namespace am::ncube2 {

/// Cycles from the beginning.
struct PingTimes {
  Cycle sent = 0;      ///< the trap has returned
  Cycle handled = 0;   ///< the handler's first instruction is next
  Cycle answered = 0;  ///< the same of the answer's
};
/// `trace`: of a machine of so many dimensions, has all of it.
[[nodiscard]] PingTimes ping(unsigned dimensions, NodeNumber from, NodeNumber to,
                             kit::Trace* trace = nullptr);

}  // namespace am::ncube2
