// A large transfer from memory to memory while the computation of its sender goes on, by outlets (T1 report, 3.9, A.9.2): a piece of up to
// 32 words with each. The handler is the one of A.10, which does not wait: "attempt low priority send of data block; was it successful?"
//
//   BackgroundTransfer transfer(machine, memories);
//   machine.node(0).run([&](Processor& cpu) -> Program {
//     co_await transfer.start(cpu, {.to = 3, .source = 0, .destination = 4096, .words = 1000});
//     co_await cpu.cycles(5000);                                                                  // the computation
//     while (!transfer.has_arrived(0)) co_await cpu.cycles(costs::look);
//   });
//
// Messages between two nodes come in order (3.3), so the last piece is the one that is acknowledged.
//
// The code is at 0x6000 to 0x6fff of each node. A node sends one transfer at a time.
#pragma once

#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"

namespace am::t1 {

class BackgroundTransfer {
 public:
  /// Offsets, and how many, in words.
  struct What {
    NodeNumber to = 0;
    Word source = 0;
    Word destination = 0;
    Word words = 0;
  };

  /// Both outlive it, and it outlives what the machine runs.
  BackgroundTransfer(Machine& machine, Memories& memories);
  BackgroundTransfer(const BackgroundTransfer&) = delete;
  BackgroundTransfer& operator=(const BackgroundTransfer&) = delete;

  /// Throws std::logic_error while one of this node is under way.
  Program start(Processor& cpu, What what);

  [[nodiscard]] bool is_sent(NodeNumber from) const { return nodes_[from].left.words == 0; }
  [[nodiscard]] bool has_arrived(NodeNumber from) const { return nodes_[from].arrived; }

 private:
  struct Node {
    What left;
    bool arrived = true;
  };

  Program attempt(Processor& cpu, What& left);

  Memories& memories_;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
