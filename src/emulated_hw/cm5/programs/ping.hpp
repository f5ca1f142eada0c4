// An active message there and one back, between two nodes of a CM-5 that do nothing else; and what messages cost its processor.
#pragma once

#include "emulated_hw/cm5/machine.hpp"

namespace am::cm5 {

/// Cycles of the networks from the beginning. The other node polls: when a message comes is when it is found.
struct PingTimes {
  Cycle sent = 0;      ///< the send has returned
  Cycle handled = 0;   ///< the handler's first instruction is next
  Cycle answered = 0;  ///< the same of the answer's
};
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

/// Until both of two nodes have sent a message, and handled the other's: what Lee (1999, Table 2.1) calls a swap.
[[nodiscard]] Cycle swap(NodeNumber nodes, NodeNumber one, NodeNumber other);

}  // namespace am::cm5
