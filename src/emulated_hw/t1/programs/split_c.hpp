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

#include <algorithm>
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

class SplitC {
 public:
  /// Places the handlers. Both outlive it, and it outlives what the machine runs.
  SplitC(Machine& machine, Memories& memories) : memories_(memories), nodes_(machine.nodes()) {
    place_puts(machine);
    place_gets(machine);
    place_fetch_and_add(machine);
  }
  SplitC(const SplitC&) = delete;
  SplitC& operator=(const SplitC&) = delete;

  /// *to := value, "an asynchronous, acknowledged write".
  Program put(Processor& cpu, GlobalPtr to, Word value) {
    cpu.registers().data = {node_of(cpu), to.offset, value};
    co_await cpu.cycles(3 * costs::move + costs::add);
    asks(cpu);
    co_await send_until_accepted(cpu, {.scalars = 3}, to.node, put_at);
  }
  /// *local := *from, of this node's memory.
  Program get(Processor& cpu, GlobalPtr from, Word local) {
    cpu.registers().data = {node_of(cpu), from.offset, local};
    co_await cpu.cycles(3 * costs::move + costs::add);
    asks(cpu);
    co_await send_until_accepted(cpu, {.scalars = 3}, from.node, get_at);
  }
  /// The same for blocks, by vectors: "up to 32 words of data with the same small overhead".
  Program bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words) {
    for (Word done = 0; done < words;) {
      const Word some = std::min(words - done, most_vector);
      RegisterSet& registers = cpu.registers();
      registers.data = {node_of(cpu), to.offset + done};
      std::ranges::copy(memories_.block(node_of(cpu), local + done, some), registers.vr1.begin());
      co_await cpu.cycles(3 * costs::move + costs::vector(some) + costs::add);  // vlr, too
      asks(cpu);
      co_await send_until_accepted(cpu, {.scalars = 2, .vector = true}, to.node, bulk_put_at, some);
      co_await cpu.cycles(2 * costs::add + costs::branch);  // both addresses, the loop
      done += some;
    }
  }
  Program bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words) {
    for (Word done = 0; done < words;) {
      const Word some = std::min(words - done, most_vector);
      cpu.registers().data = {node_of(cpu), from.offset + done, local + done, some};
      co_await cpu.cycles(4 * costs::move + costs::add);
      asks(cpu);
      co_await send_until_accepted(cpu, {.scalars = 4}, from.node, bulk_get_at);
      co_await cpu.cycles(2 * costs::add + costs::branch);
      done += some;
    }
  }
  /// Until all of these are answered.
  Program sync(Processor& cpu) {
    const Node& node = nodes_[node_of(cpu)];
    do co_await cpu.cycles(costs::look);
    while (node.pending != 0);
  }
  /// *fetched = (*counter)++, and waits for it: atomic, "since Active Message handlers execute to completion" (Figures 3 and 4).
  Program fetch_and_add(Processor& cpu, GlobalPtr counter, Word& fetched) {
    Node& node = nodes_[node_of(cpu)];
    cpu.registers().data = {node_of(cpu), counter.offset};
    node.has_fetched = false;
    co_await cpu.cycles(2 * costs::move + costs::move);  // the flag
    co_await send_until_accepted(cpu, {.scalars = 2}, counter.node, fetch_and_add_at);
    do co_await cpu.cycles(costs::look);
    while (!node.has_fetched);
    fetched = node.fetched;
  }

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

  static constexpr Address bulk_put_at = 0x4300;
  static constexpr Address done_at = 0x4400;
  static constexpr Address get_at = 0x4500;
  static constexpr Address bulk_get_at = 0x4600;
  static constexpr Address fetch_and_add_at = 0x4700;
  static constexpr Address fetched_at = 0x4800;

  void place_puts(Machine& machine) {
    machine.place(put_at, [this](Processor& cpu) -> Program {
      const auto& data = cpu.registers().data;
      co_await cpu.cycles(costs::store);
      memories_.at(node_of(cpu), data[1]) = data[2];
      co_await send_until_accepted(cpu, {.priority = Priority::high}, data[0], done_at);
    });
    machine.place(bulk_put_at, [this](Processor& cpu) -> Program {
      const auto& data = cpu.registers().data;
      co_await store_vector(cpu, memories_, data[1]);
      co_await send_until_accepted(cpu, {.priority = Priority::high}, data[0], done_at);
    });
    machine.place(done_at, [this](Processor& cpu) -> Program {
      co_await cpu.cycles(costs::add);
      is_answered(cpu);
    });
  }
  void place_gets(Machine& machine) {
    machine.place(get_at, [this](Processor& cpu) -> Program {
      auto& data = cpu.registers().data;
      co_await cpu.cycles(costs::load + costs::move);
      const Word origin = data[0];
      data[0] = data[2];
      data[1] = memories_.at(node_of(cpu), data[1]);
      co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, origin, got_at);
    });
    machine.place(got_at, [this](Processor& cpu) -> Program {
      const auto& data = cpu.registers().data;
      co_await cpu.cycles(costs::store + costs::add);
      memories_.at(node_of(cpu), data[0]) = data[1];
      is_answered(cpu);
    });
    machine.place(bulk_get_at, [this](Processor& cpu) -> Program {
      RegisterSet& registers = cpu.registers();
      const Word origin = registers.data[0], words = registers.data[3];
      std::ranges::copy(memories_.block(node_of(cpu), registers.data[1], words), registers.vr1.begin());
      registers.data[0] = registers.data[2];
      co_await cpu.cycles(costs::vector(words) + 2 * costs::move);  // vlr, and where it goes
      co_await send_until_accepted(cpu, {.scalars = 1, .vector = true, .priority = Priority::high}, origin,
                                   bulk_got_at, words);
    });
    machine.place(bulk_got_at, [this](Processor& cpu) -> Program {
      co_await store_vector(cpu, memories_, cpu.registers().data[0], costs::add);
      is_answered(cpu);
    });
  }
  void place_fetch_and_add(Machine& machine) {
    machine.place(fetch_and_add_at, [this](Processor& cpu) -> Program {
      auto& data = cpu.registers().data;
      co_await cpu.cycles(costs::load + costs::add + costs::store);
      const Word origin = data[0];
      data[0] = memories_.at(node_of(cpu), data[1])++;
      co_await send_until_accepted(cpu, {.scalars = 1, .priority = Priority::high}, origin, fetched_at);
    });
    machine.place(fetched_at, [this](Processor& cpu) -> Program {
      Node& node = nodes_[node_of(cpu)];
      co_await cpu.cycles(2 * costs::move);
      node.fetched = cpu.registers().data[0];
      node.has_fetched = true;
    });
  }
  void is_answered(Processor& cpu) { --nodes_[node_of(cpu)].pending; }

  Memories& memories_;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
