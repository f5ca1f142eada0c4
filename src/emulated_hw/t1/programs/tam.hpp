// TAM, the Threaded Abstract Machine, on T1s (T1 report, 2.2.2): inlets, which are handlers, store what comes into activation frames and
// post threads, which the computation runs.
//
//   Tam tam(machine, memories);
//   const auto add = tam.thread([&](Processor& cpu, Word frame) -> Program { ... });
//   const Address left = tam.inlet({.slot = 0, .counter = 2, .thread = add});    // both of them, then `add`
//   const Address right = tam.inlet({.slot = 1, .counter = 2, .thread = add});
//   machine.node(0).run([&](Processor& cpu) -> Program {
//     co_await tam.send(cpu, {.node = 3, .offset = 17}, left, 30);
//     co_await tam.send(cpu, {.node = 3, .offset = 17}, right, 12);
//     co_await tam.schedule(cpu);                                               // until stop()
//   });
//
// An inlet "stores the data at a specified offset in a specified frame, records this action in a counter, and possibly performs a
// scheduling operation if a thread becomes enabled". It sends nothing and waits for nothing, so all messages to inlets have high
// priority, whatever sends them (3.5, footnote 4): inlets are atomic against each other for nothing.
// The scheduler pays for it, with a critical section around what inlets change, too (3.4).
//
// The report has no scheduler. Assumed: threads of one frame run one after the other, and then those of the frame that has waited longest.
//
// The code is at 0x5000 to 0x5fff of each node.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

class Tam {
 public:
  /// With the offset of its frame in its node's memory.
  using Thread = std::function<Program(Processor&, Word frame)>;
  using ThreadNumber = unsigned;
  /// Offsets in a frame. The counter, which the frame's owner sets, is one less with each message; at 0 the thread is posted.
  struct Inlet {
    Word slot = 0;
    Word counter = 0;
    ThreadNumber thread = 0;
  };
  static constexpr unsigned most_inlets = 256;

  /// Both outlive it, and it outlives what the machine runs.
  Tam(Machine& machine, Memories& memories)
      : machine_(machine), memories_(memories), nodes_(machine.nodes()) {}
  Tam(const Tam&) = delete;
  Tam& operator=(const Tam&) = delete;

  // -- set-up: the code of all nodes

  ThreadNumber thread(Thread code) {
    threads_.push_back(std::move(code));
    return static_cast<ThreadNumber>(threads_.size() - 1);
  }
  /// Throws std::length_error after most_inlets.
  Address inlet(const Inlet& what) {
    if (inlets_ == most_inlets)
      throw std::length_error("t1: more than " + std::to_string(most_inlets) + " inlets");
    const Address at = inlets_at + 4 * inlets_++;
    machine_.place(at, [this, what](Processor& cpu) { return handle_inlet(cpu, what); });
    return at;
  }

  // -- for computations: threads, and what runs the scheduler

  /// A word for a frame.
  Program send(Processor& cpu, GlobalPtr frame, Address inlet, Word value) {
    cpu.registers().data = {frame.offset, value};
    co_await cpu.cycles(2 * costs::move);
    co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, frame.node, inlet);
  }
  /// A thread of a frame of this node.
  Program post(Processor& cpu, Word frame, ThreadNumber thread) {
    Node& node = nodes_[node_of(cpu)];
    co_await cpu.enter_critical();
    co_await cpu.cycles(cost_of_posting(node, frame));
    add(node, frame, thread);
    co_await cpu.exit_critical();
  }
  /// Runs what is posted. Ends when there is nothing and stop() was called.
  Program schedule(Processor& cpu) {
    Node& node = nodes_[node_of(cpu)];
    for (;;) {
      co_await cpu.enter_critical();
      if (node.running && !node.posted[*node.running].empty()) {
        std::vector<ThreadNumber>& posted = node.posted[*node.running];
        const ThreadNumber thread = posted.back();
        co_await cpu.cycles(pop_cost);  // an inlet in between would be what the next line takes away
        posted.pop_back();
        co_await cpu.exit_critical();
        ++node.counts.run;
        co_await threads_[thread](cpu, *node.running);
      } else if (!node.ready.empty()) {
        co_await cpu.cycles(frame_switch_cost);
        node.running = node.ready.front();
        node.ready.pop_front();
        ++node.counts.frame_switches;
        co_await cpu.exit_critical();
      } else {
        node.running.reset();
        co_await cpu.exit_critical();
        if (node.stopped) co_return;
        co_await cpu.cycles(costs::look);
      }
    }
  }
  void stop(NodeNumber node) { nodes_[node].stopped = true; }

  struct Counts {
    std::uint64_t posted = 0;
    std::uint64_t run = 0;
    std::uint64_t frame_switches = 0;
  };
  [[nodiscard]] const Counts& counts(NodeNumber node) const { return nodes_[node].counts; }

 private:
  struct Node {
    std::optional<Word> running;                       // frame
    std::map<Word, std::vector<ThreadNumber>> posted;  // by frame
    std::deque<Word> ready;                            // frames that have some, but the running one
    Counts counts;
    bool stopped = false;
  };

  static constexpr Address inlets_at = 0x5000;
  // Assumed: the first word of what is posted of a frame links the frames that have some.
  static constexpr unsigned post_cost = costs::store + costs::add + costs::branch;
  static constexpr unsigned enqueue_cost = costs::store + costs::add;
  static constexpr unsigned pop_cost = costs::load + costs::add + costs::branch;
  static constexpr unsigned frame_switch_cost = 2 * costs::load + costs::add + 2 * costs::branch;

  // What is posted, which nobody else changes meanwhile.

  [[nodiscard]] unsigned cost_of_posting(const Node& node, Word frame) const {
    const auto posted = node.posted.find(frame);
    const bool has_some = posted != node.posted.end() && !posted->second.empty();
    return post_cost + (has_some || node.running == frame ? 0 : enqueue_cost);
  }
  void add(Node& node, Word frame, ThreadNumber thread) const {
    std::vector<ThreadNumber>& posted = node.posted[frame];
    if (posted.empty() && node.running != frame) node.ready.push_back(frame);
    posted.push_back(thread);
    ++node.counts.posted;
  }

  /// The offsets are in its code: "the tailored Active Message handler".
  Program handle_inlet(Processor& cpu, Inlet what) {
    const auto& data = cpu.registers().data;
    const Word frame = data[0];
    co_await cpu.cycles(costs::store + costs::load + costs::add + costs::store + costs::branch);
    memories_.at(node_of(cpu), frame + what.slot) = data[1];
    if (--memories_.at(node_of(cpu), frame + what.counter) != 0) co_return;
    Node& node = nodes_[node_of(cpu)];
    co_await cpu.cycles(cost_of_posting(node, frame));
    add(node, frame, what.thread);
  }

  Machine& machine_;
  Memories& memories_;
  std::deque<Thread> threads_;  // stay where they are: a thread's captures are in them
  unsigned inlets_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
