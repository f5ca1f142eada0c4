#include "emulated_hw/t1/programs/tam.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

namespace {

constexpr Address inlets_at = 0x5000;

// Assumed: the first word of what is posted of a frame links the frames that have some.
constexpr unsigned post_cost = costs::store + costs::add + costs::branch;
constexpr unsigned enqueue_cost = costs::store + costs::add;
constexpr unsigned pop_cost = costs::load + costs::add + costs::branch;
constexpr unsigned frame_switch_cost = 2 * costs::load + costs::add + 2 * costs::branch;

}  // namespace

Tam::Tam(Machine& machine, Memories& memories)
    : machine_(machine), memories_(memories), nodes_(machine.nodes()) {}

Tam::ThreadNumber Tam::thread(Thread code) {
  threads_.push_back(std::move(code));
  return static_cast<ThreadNumber>(threads_.size() - 1);
}

Address Tam::inlet(const Inlet& what) {
  if (inlets_ == most_inlets)
    throw std::length_error("t1: more than " + std::to_string(most_inlets) + " inlets");
  const Address at = inlets_at + 4 * inlets_++;
  machine_.place(at, [this, what](Processor& cpu) { return handle_inlet(cpu, what); });
  return at;
}

// -- for computations -------------------------------------------------------------------------------------------------

Program Tam::send(Processor& cpu, GlobalPtr frame, Address inlet, Word value) {
  cpu.registers().data = {frame.offset, value};
  co_await cpu.cycles(2 * costs::move);
  co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, frame.node, inlet);
}

Program Tam::post(Processor& cpu, Word frame, ThreadNumber thread) {
  Node& node = nodes_[node_of(cpu)];
  co_await cpu.enter_critical();
  co_await cpu.cycles(cost_of_posting(node, frame));
  add(node, frame, thread);
  co_await cpu.exit_critical();
}

Program Tam::schedule(Processor& cpu) {
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

// -- what is posted, which nobody else changes meanwhile ---------------------------------------------------------------

unsigned Tam::cost_of_posting(const Node& node, Word frame) const {
  const auto posted = node.posted.find(frame);
  const bool has_some = posted != node.posted.end() && !posted->second.empty();
  return post_cost + (has_some || node.running == frame ? 0 : enqueue_cost);
}

void Tam::add(Node& node, Word frame, ThreadNumber thread) const {
  std::vector<ThreadNumber>& posted = node.posted[frame];
  if (posted.empty() && node.running != frame) node.ready.push_back(frame);
  posted.push_back(thread);
  ++node.counts.posted;
}

// -- inlets -----------------------------------------------------------------------------------------------------------

// The offsets are in its code: "the tailored Active Message handler".
Program Tam::handle_inlet(Processor& cpu, Inlet what) {
  const auto& data = cpu.registers().data;
  const Word frame = data[0];
  co_await cpu.cycles(costs::store + costs::load + costs::add + costs::store + costs::branch);
  memories_.at(node_of(cpu), frame + what.slot) = data[1];
  if (--memories_.at(node_of(cpu), frame + what.counter) != 0) co_return;
  Node& node = nodes_[node_of(cpu)];
  co_await cpu.cycles(cost_of_posting(node, frame));
  add(node, frame, what.thread);
}

}  // namespace am::t1
