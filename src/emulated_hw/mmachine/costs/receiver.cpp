#include "emulated_hw/mmachine/costs/receiver.hpp"

#include <algorithm>

#include "emulated_hw/mmachine/costs/parameters.hpp"

namespace am::mmachine::costs {

namespace {

/// Stores or loads so many, through a pointer that is moved on.
void swap_registers(InstructionStream& thread, unsigned count, Operation (*access)(Register frame)) {
  Register frame;
  for (unsigned i = 0; i < count; ++i) {
    thread.issue(access(frame));
    frame = thread.issue(op::lea(frame));
  }
}
Operation save(Register frame) { return op::store(frame, {}); }
Operation restore(Register frame) { return op::load(frame); }

}  // namespace

Cycle Receiver::bring_in(const Arrival& message) {
  const Cycle arrived = accept(message);
  if (dispatcher_is_in(arrived)) return arrived;
  const bool polls = model_.dispatch == Dispatch::polled;
  if (has_swapped_) swap_registers(thread, polls ? polling_registers : interrupt_registers, restore);
  thread.wait_until(arrived);
  if (polls && model_.comes_too_late) thread.spend(missed_poll_cycles, 0);
  swap_in_dispatcher();
  return arrived;
}

/// Since when can the message be read, for which the dispatcher is ready?
Cycle Receiver::accept(const Arrival& message) {
  message_ = message;
  if (model_.extraction.atomicity == Atomicity::streaming) return message_.head;
  const Cycle entered = std::max(message.head, thread.next_issue());
  const Cycle complete = std::max(message.tail(), entered + message.words.size());
  const bool in_memory = model_.extraction.mapping == Mapping::memory;
  message_.head = complete + (in_memory ? hierarchy_cycles : hand_over_cycles);
  std::ranges::fill(message_.words, message_.head);
  return message_.head;
}

bool Receiver::dispatcher_is_in(Cycle arrived) const noexcept {
  if (model_.dispatch == Dispatch::thread_slot) return true;
  const bool seen = model_.dispatch == Dispatch::polled || !model_.comes_too_late;
  return has_swapped_ && seen && arrived <= thread.next_issue();
}

void Receiver::swap_in_dispatcher() {
  if (model_.dispatch == Dispatch::polled) {
    thread.issue(op::compute());  // finds the message
    thread.jump();
    swap_registers(thread, polling_registers, save);
  } else {
    thread.jump();  // to the interrupt's routine
    swap_registers(thread, interrupt_registers, save);
    swap_registers(thread, interrupt_registers, restore);
  }
  thread.jump();  // to the dispatcher
  has_swapped_ = true;
}

/// A word as an operand. In memory it is a load that waits in the interface until there is a word.
Register Receiver::take(Cycle arrived) noexcept {
  if (model_.extraction.mapping == Mapping::processor) return {arrived};
  if (model_.extraction.mapping == Mapping::network) return thread.issue(op::move({arrived}));
  const Register asked = thread.issue(op::load(thread.issue(op::lea())));
  const Cycle issued = asked.ready - load_cycles;
  return {std::max(issued, arrived) + hierarchy_cycles};
}

}  // namespace am::mmachine::costs
