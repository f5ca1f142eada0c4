// Split-C on T1s: routines and handlers of its library (T1 report, 2.2.1, Figures 3 and 4). Requests have low priority, what answers them
// high (3.5, A.10).
//
//   SplitC split_c(machine, memories);
//   machine.node(0).run([&](Processor& cpu) -> Program {
//     co_await split_c.get(cpu, {.node = 3, .offset = 17}, 40);   // *40 = *gp, split-phase
//     co_await cpu.cycles(30);                                    // computation that overlaps it
//     co_await split_c.sync(cpu);
//   });
//
// What has not been answered yet is counted: "simple counters are used to deduce when all operations have completed". The counter is in
// one of "the registers shared between the handlers and primary computation" (3.3), so a change of it is one instruction, and atomic.
//
// The code is at 0x4000 to 0x4fff of each node. Routines are for computations, of a node each.
#pragma once

#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

class SplitC {
 public:
  /// Places the handlers. Both outlive it, and it outlives what the machine runs.
  SplitC(Machine& machine, Memories& memories);
  SplitC(const SplitC&) = delete;
  SplitC& operator=(const SplitC&) = delete;

  /// *to := value, "an asynchronous, acknowledged write".
  Program put(Processor& cpu, GlobalPtr to, Word value);
  /// *local := *from, of this node's memory.
  Program get(Processor& cpu, GlobalPtr from, Word local);
  /// The same for blocks, by vectors: "up to 32 words of data with the same small overhead".
  Program bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words);
  Program bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words);
  /// Until all of these are answered.
  Program sync(Processor& cpu);
  /// *fetched = (*counter)++, and waits for it: atomic, "since Active Message handlers execute to completion" (Figures 3 and 4).
  Program fetch_and_add(Processor& cpu, GlobalPtr counter, Word& fetched);

  /// Puts and gets of a node that are not answered.
  [[nodiscard]] Word pending(NodeNumber node) const { return nodes_[node].pending; }

 protected:
  // Of a request that has come, and of its answer: each counts one as complete in the end.

  static constexpr Address put_at = 0x4000;       ///< origin, offset, value
  static constexpr Address got_at = 0x4100;       ///< offset, value
  static constexpr Address bulk_got_at = 0x4200;  ///< offset, a vector

  void asks(Processor& cpu) { ++nodes_[node_of(cpu)].pending; }
  [[nodiscard]] Memories& memories() const noexcept { return memories_; }

 private:
  /// In registers that handlers and computation share.
  struct Node {
    Word pending = 0;
    Word fetched = 0;
    bool has_fetched = false;
  };

  void place_puts(Machine& machine);
  void place_gets(Machine& machine);
  void place_fetch_and_add(Machine& machine);
  void is_answered(Processor& cpu) { --nodes_[node_of(cpu)].pending; }

  Memories& memories_;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
