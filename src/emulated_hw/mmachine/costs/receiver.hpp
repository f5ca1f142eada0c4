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

#include <vector>

#include "emulated_hw/mmachine/costs/injection.hpp"
#include "emulated_hw/mmachine/costs/interface_model.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace am::mmachine::costs {

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
  Cycle bring_in(const Arrival& message);
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
    if (takes_all_first()) {
      std::vector<Register> words;
      for (const Cycle arrived : message_.words) words.push_back(take(arrived));
      for (const Register word : words) use(word);
    } else {
      for (const Cycle arrived : message_.words) use(take(arrived));
    }
  }

  InstructionStream thread;

 private:
  [[nodiscard]] bool takes_all_first() const noexcept {
    return model_.extraction.atomicity == Atomicity::buffered || model_.extraction.mapping == Mapping::memory;
  }
  [[nodiscard]] Cycle accept(const Arrival& message);
  [[nodiscard]] bool dispatcher_is_in(Cycle arrived) const noexcept;
  void swap_in_dispatcher();
  [[nodiscard]] Register take(Cycle arrived) noexcept;

  InterfaceModel model_;
  Arrival message_{};
  bool has_swapped_ = false;  // the dispatcher in, for an earlier message
};

}  // namespace am::mmachine::costs
