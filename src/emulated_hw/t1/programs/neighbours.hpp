// A CNS-1 of two nodes for one measurement: node 0 computes, node 1 does nothing but what messages make it do.
#pragma once

#include "emulated_hw/t1/machine.hpp"
#include "emulated_hw/t1/memory.hpp"

namespace am::t1 {

struct Neighbours {
  explicit Neighbours(Word words_of_each) : memories(2, words_of_each) {}

  /// Of node 0, until it has ended and nothing is under way.
  void run(const Processor::Code& computation) {
    machine.node(0).run(computation);
    constexpr int to_handle_and_return = 50;
    int calm = 0;
    machine.run_or_throw([&] {
      calm = machine.node(0).has_ended() && machine.mesh().under_way() == 0 ? calm + 1 : 0;
      return calm > to_handle_and_return;
    });
  }
  /// What went into events, all in all.
  [[nodiscard]] Cycle handling(NodeNumber node) {
    const Processor::Spent& spent = machine.node(node).spent();
    return spent.dispatching + spent.handling;
  }

  Machine machine{{.rows = 1, .columns = 2, .wraps = false}};
  Memories memories;
};

}  // namespace am::t1
