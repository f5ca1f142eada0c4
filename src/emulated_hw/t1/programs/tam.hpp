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
#include <vector>

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"

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
  Tam(Machine& machine, Memories& memories);
  Tam(const Tam&) = delete;
  Tam& operator=(const Tam&) = delete;

  // -- set-up: the code of all nodes

  ThreadNumber thread(Thread code);
  /// Throws std::length_error after most_inlets.
  Address inlet(const Inlet& what);

  // -- for computations: threads, and what runs the scheduler

  /// A word for a frame.
  Program send(Processor& cpu, GlobalPtr frame, Address inlet, Word value);
  /// A thread of a frame of this node.
  Program post(Processor& cpu, Word frame, ThreadNumber thread);
  /// Runs what is posted. Ends when there is nothing and stop() was called.
  Program schedule(Processor& cpu);
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

  [[nodiscard]] unsigned cost_of_posting(const Node& node, Word frame) const;
  void add(Node& node, Word frame, ThreadNumber thread) const;
  Program handle_inlet(Processor& cpu, Inlet what);

  Machine& machine_;
  Memories& memories_;
  std::deque<Thread> threads_;  // stay where they are: a thread's captures are in them
  unsigned inlets_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace am::t1
