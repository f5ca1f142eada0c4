// A thread that handles messages which have arrived: how its processor is dispatched to a message, and what it costs to have each word as
// an operand.
//
// Dispatch is by a thread slot of its own, by a poll that the running program makes, or by an interrupt. The last two save that program, bring
// in the dispatcher, and restore the program when no message waits any more. As a rule these are the best cases of 6.4 and 6.5.4: a message
// arrives exactly when the program polls, and one that waits when a handler ends finds the dispatcher still there. Registers go to memory
// and come back through a pointer that is moved on. The interrupt's handler comes in as the displaced program goes out, all of it
// ("swapping in an interrupt handler in its place", 6.1).
//
// What the thesis leaves open of extraction. A buffered interface holds one message: the next one enters when the dispatcher comes back for
// it, and a handler copies all of a message before it uses the first word. A streaming one is read word by word. A word of a memory-mapped
// one has an address, which is computed, and takes a traversal of the memory hierarchy to its register; loads are pipelined, so a handler
// asks for all words first. The network interface puts a message into a buffer in memory by another traversal. The handlers' thread has
// the interface for itself: no semaphore.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.2.2, 6.1, 6.4, 6.5.1, 6.5.2, 6.5.4.
#pragma once

#include <algorithm>
#include <vector>

#include "amsim/papers/chapter_6/injection.hpp"
#include "amsim/papers/chapter_6/interface_model.hpp"
#include "amsim/papers/chapter_6/parameters.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace amsim::chapter_6 {

class Receiver {
 public:
  explicit Receiver(const InterfaceModel& model) noexcept : model_(model) {}

  /// Dispatches a message to its handler, of which `handler()` issues the operations, and returns to the dispatcher.
  template <class Handler>
  void handle(const Arrival& message, Handler handler) {
    bring_in(message);
    run(handler);
  }
  /// The two halves of it: until the dispatcher runs, which it may do once the message can be read, at the cycle that this returns;
  Cycle bring_in(const Arrival& message) {
    const Cycle arrived = accept(message);
    if (dispatcher_is_in(arrived)) return arrived;
    const bool polls = model_.dispatch == Dispatch::polled;
    if (has_swapped_) swap_registers(polls ? polling_registers : interrupt_registers, restore);
    thread.wait_until(arrived);
    if (polls && model_.comes_too_late) thread.spend(missed_poll_cycles, 0);
    swap_in_dispatcher();
    return arrived;
  }
  /// and from there on.
  template <class Handler>
  void run(Handler handler) {
    thread.jump(take(message_.head));
    handler();
    thread.jump();
  }

  /// For a handler: all words of the message's body, one after the other; `use` issues what it does with one.
  template <class Use>
  void take_words(Use use) {
    const bool takes_all_first = is_buffered() || is_in(Mapping::memory);
    std::vector<Register> words;
    for (const Cycle arrived : message_.words) {
      const Register word = take(arrived);
      if (takes_all_first) {
        words.push_back(word);
      } else {
        use(word);
      }
    }
    for (const Register word : words) use(word);
  }

  InstructionStream thread;

 private:
  [[nodiscard]] bool is_buffered() const noexcept {
    return model_.extraction.atomicity == Atomicity::buffered;
  }
  [[nodiscard]] bool is_in(Mapping mapping) const noexcept { return model_.extraction.mapping == mapping; }

  /// Since when can the message be read, for which the dispatcher is ready?
  Cycle accept(const Arrival& message) {
    message_ = message;
    if (!is_buffered()) return message_.head;
    const Cycle entered = std::max(message.head, thread.next_issue());
    const Cycle complete = std::max(message.tail(), entered + message.words.size());
    message_.head = complete + (is_in(Mapping::memory) ? hierarchy_cycles : hand_over_cycles);
    return message_.head;
  }
  [[nodiscard]] bool dispatcher_is_in(Cycle arrived) const noexcept {
    if (model_.dispatch == Dispatch::thread_slot) return true;
    const bool seen = model_.dispatch == Dispatch::polled || !model_.comes_too_late;
    return has_swapped_ && seen && arrived <= thread.next_issue();
  }
  void swap_in_dispatcher() {
    if (model_.dispatch == Dispatch::polled) {
      thread.issue(op::compute());  // finds the message
      thread.jump();
      swap_registers(polling_registers, save);
    } else {
      thread.jump();  // to the interrupt's routine
      swap_registers(interrupt_registers, save);
      swap_registers(interrupt_registers, restore);
    }
    thread.jump();  // to the dispatcher
    has_swapped_ = true;
  }
  /// Stores or loads so many, through a pointer that is moved on.
  void swap_registers(unsigned count, Operation (*access)(Register frame)) {
    Register frame;
    for (unsigned i = 0; i < count; ++i) {
      thread.issue(access(frame));
      frame = thread.issue(op::lea(frame));
    }
  }
  static Operation save(Register frame) { return op::store(frame, {}); }
  static Operation restore(Register frame) { return op::load(frame); }

  /// A word as an operand. In memory it is a load that waits in the interface until there is a word.
  Register take(Cycle arrived) noexcept {
    if (is_in(Mapping::processor)) return {arrived};
    if (is_in(Mapping::network)) return thread.issue(op::move({arrived}));
    const Register asked = thread.issue(op::load(thread.issue(op::lea())));
    const Cycle issued = asked.ready - load_cycles;
    return {std::max(issued, arrived) + hierarchy_cycles};
  }

  InterfaceModel model_;
  Arrival message_{};
  bool has_swapped_ = false;  // the dispatcher in, for an earlier message
};

}  // namespace amsim::chapter_6
