// Of what latencies consist, where the thesis draws it: a remote procedure call's injection (Figure 6-6), and a message's dispatch
// (Figure 6-9). The thesis prints no numbers with these figures, but for one ratio in 6.5.4.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.5.2, 6.5.4.
#pragma once

#include "emulated_hw/mmachine/costs/instruction.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"

namespace am::mmachine::costs {

/// Of RPC, from the first operation that composes the message.
struct InjectionParts {
  Cycle head = 0;     ///< until its head is at the receiver
  Cycle tail = 0;     ///< until its last word is
  Cycle started = 0;  ///< until the new thread's first instruction
};
[[nodiscard]] InjectionParts injection_parts(const InterfaceModel& model);

/// Of the message that asks in PING, from its arrival.
struct DispatchParts {
  Cycle swap = 0;     ///< until the dispatcher runs
  Cycle service = 0;  ///< then, until the answer's last word has been injected
};
[[nodiscard]] DispatchParts dispatch_parts(const InterfaceModel& model);

}  // namespace am::mmachine::costs
