// How a processor comes to look at a message that has arrived: by a thread slot of its own, which waits for nothing else; in a poll
// that the displaced program makes; or by an interrupt. The last two save the program, bring in the dispatcher, and restore the program
// when no message waits any more.
//
// As a rule the best cases of 6.4 and 6.5.4: a message arrives exactly when the program polls, and one that waits when a handler ends finds
// the dispatcher still there. Registers are stored through a pointer that is moved on; the interrupt's handler is brought in as the
// displaced program is taken out, all of it ("swapping in an interrupt handler in its place", 6.1).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.1, 6.5.4.
#pragma once

#include "emulated_hw/mmachine/costs/cluster.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"

namespace am::mmachine::costs {

class Dispatching {
 public:
  explicit Dispatching(Dispatch how, bool comes_too_late = false) noexcept
      : how_(how), comes_too_late_(comes_too_late) {}

  /// A message can be read from `arrived` on: after this the dispatcher runs.
  void bring_in(Cluster& cluster, Cycle arrived) noexcept;

 private:
  [[nodiscard]] bool already_in(const Cluster& cluster, Cycle arrived) const noexcept {
    if (how_ == Dispatch::thread_slot) return true;
    const bool seen = how_ == Dispatch::polled || !comes_too_late_;
    return in_ && seen && arrived <= cluster.next_issue();
  }

  Dispatch how_;
  bool comes_too_late_;
  bool in_ = false;  // since an earlier message
};

}  // namespace am::mmachine::costs
