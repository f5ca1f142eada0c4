// An active message there and one back, between two nodes of a CM-5 that do nothing else; and what messages cost its processor.
#pragma once

#include "emulated_hw/cm5/machine.hpp"
#include "emulated_hw/kit/ping.hpp"

namespace am::cm5 {

using kit::PingTimes;
/// The other node polls: when a message comes is when it is found.
/// `trace`: of a machine of so many nodes, has all of it.
[[nodiscard]] PingTimes ping(NodeNumber nodes, NodeNumber from, NodeNumber to, kit::Trace* trace = nullptr);

/// Cycles of the processor, by CMAM, for a handler's number and four words. A handler itself does nothing.
struct MessageCosts {
  unsigned send = 0;
  unsigned poll = 0;        ///< that finds a message, and runs its handler
  unsigned empty_poll = 0;  ///< that finds nothing
  unsigned refused = 0;  ///< a send that is dropped, until it begins anew: two networks have been looked at
};
[[nodiscard]] MessageCosts message_costs();

}  // namespace am::cm5
