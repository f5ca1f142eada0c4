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

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

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
  BackgroundTransfer(Machine& machine, Memories& memories) : memories_(memories), nodes_(machine.nodes()) {
    machine.place(outlet_at, [this](Processor& cpu) -> Program {
      co_await attempt(cpu, nodes_[node_of(cpu)].left);
      co_await cpu.cycles(costs::branch);
      if (is_sent(node_of(cpu))) co_await set_outlets(cpu, false);
    });
    machine.place(piece_at,
                  [this](Processor& cpu) { return store_vector(cpu, memories_, cpu.registers().data[1]); });
    machine.place(last_piece_at, [this](Processor& cpu) -> Program {
      co_await store_vector(cpu, memories_, cpu.registers().data[1]);
      co_await send_until_accepted(cpu, {.priority = Priority::high}, cpu.registers().data[0], arrived_at);
    });
    machine.place(arrived_at, [this](Processor& cpu) -> Program {
      co_await cpu.cycles(costs::move);
      nodes_[node_of(cpu)].arrived = true;
    });
  }
  BackgroundTransfer(const BackgroundTransfer&) = delete;
  BackgroundTransfer& operator=(const BackgroundTransfer&) = delete;

  /// Throws std::logic_error while one of this node is under way.
  Program start(Processor& cpu, What what) {
    Node& node = nodes_[node_of(cpu)];
    if (!node.arrived)
      throw std::logic_error("t1: node " + std::to_string(node_of(cpu)) + " has a transfer under way");
    node = {.left = what, .arrived = what.words == 0};
    co_await cpu.cycles(5 * costs::move);
    co_await cpu.ctc2(Register::outh, outlet_at);
    co_await set_outlets(cpu, true);
  }

  [[nodiscard]] bool is_sent(NodeNumber from) const { return nodes_[from].left.words == 0; }
  [[nodiscard]] bool has_arrived(NodeNumber from) const { return nodes_[from].arrived; }

 private:
  struct Node {
    What left;
    bool arrived = true;
  };

  static constexpr Address outlet_at = 0x6000;
  static constexpr Address piece_at = 0x6100;
  static constexpr Address last_piece_at = 0x6200;
  static constexpr Address arrived_at = 0x6300;

  /// CFC2, ORI or ANDI, CTC2. An event between them comes and goes with the same masks; the pending bits and enables are of no effect, or
  /// as they were.
  static Program set_outlets(Processor& cpu, bool enabled) {
    const Word status = co_await cpu.cfc2(Register::nistat);
    co_await cpu.cycles(costs::add);
    co_await cpu.ctc2(Register::nistat, enabled ? status | nistat::om : status & ~nistat::om);
  }
  /// Tries to send the next piece, if there is one.
  Program attempt(Processor& cpu, What& left) {
    co_await cpu.cycles(costs::branch);
    if (left.words == 0) co_return;
    const Word words = std::min(left.words, most_vector);
    RegisterSet& registers = cpu.registers();
    registers.data = {node_of(cpu), left.destination};
    std::ranges::copy(memories_.block(node_of(cpu), left.source, words), registers.vr1.begin());
    co_await cpu.cycles(3 * costs::move + costs::vector(words) +
                        costs::branch);  // vlr; whether it is the last
    const bool accepted =
        co_await cpu.send({.scalars = 2, .vector = true}, left.to,
                          words == left.words ? last_piece_at : piece_at, registers.vr1, words);
    if (!accepted) co_return;
    co_await cpu.cycles(3 * costs::add);
    left.source += words;
    left.destination += words;
    left.words -= words;
  }

  Memories& memories_;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
