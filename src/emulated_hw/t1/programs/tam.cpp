#include "emulated_hw/t1/programs/tam.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"

namespace am::t1 {

namespace {

constexpr Address fetch_at = 0x5000;
constexpr Address store_at = 0x5100;
constexpr Address inlets_at = 0x5200;

// Assumed: the first word of what is posted of a frame links the frames that have some.
constexpr unsigned post_cost = costs::store + costs::add + costs::branch;
constexpr unsigned enqueue_cost = costs::store + costs::add;
constexpr unsigned pop_cost = costs::load + costs::add + costs::branch;
constexpr unsigned frame_switch_cost = 2 * costs::load + costs::add + 2 * costs::branch;

}  // namespace

Tam::Tam(Machine& machine, Memories& memories)
    : machine_(machine), memories_(memories), nodes_(machine.nodes()) {
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    machine.node(node).place(fetch_at, [this](Processor& cpu) { return handle_fetch(cpu); });
    machine.node(node).place(store_at, [this](Processor& cpu) { return handle_store(cpu); });
  }
}

Tam::ThreadNumber Tam::thread(Thread code) {
  threads_.push_back(std::move(code));
  return static_cast<ThreadNumber>(threads_.size() - 1);
}

Address Tam::inlet(const Inlet& what) {
  if (inlets_ == most_inlets)
    throw std::length_error("t1: more than " + std::to_string(most_inlets) + " inlets");
  const Address at = inlets_at + 4 * inlets_++;
  for (NodeNumber node = 0; node < nodes_.size(); ++node)
    machine_.node(node).place(at, [this, what](Processor& cpu) { return handle_inlet(cpu, what); });
  return at;
}

// -- for computations -------------------------------------------------------------------------------------------------

Program Tam::send(Processor& cpu, GlobalPtr frame, Address inlet, Word value) {
  cpu.registers().data = {frame.offset, value};
  co_await cpu.cycles(2 * costs::move);
  co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, frame.node, inlet);
}

Program Tam::i_fetch(Processor& cpu, GlobalPtr element, Word frame, Address inlet) {
  cpu.registers().data = {node_of(cpu), element.offset, frame, inlet};
  co_await cpu.cycles(4 * costs::move);
  co_await send_until_accepted(cpu, {.scalars = 4}, element.node, fetch_at);
}

Program Tam::i_store(Processor& cpu, GlobalPtr element, Word value) {
  cpu.registers().data = {element.offset, value};
  co_await cpu.cycles(2 * costs::move);
  co_await send_until_accepted(cpu, {.scalars = 2}, element.node, store_at);
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

// -- handlers ---------------------------------------------------------------------------------------------------------

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

Program Tam::handle_fetch(Processor& cpu) {
  auto& data = cpu.registers().data;
  const NodeNumber origin = data[0];
  const Word element = data[1], frame = data[2];
  const Address inlet = data[3];
  Node& node = nodes_[node_of(cpu)];
  Cell& cell = node.heap[element];
  co_await cpu.cycles(costs::load + costs::branch);  // whether there is something
  if (!cell.full) {
    co_await cpu.cycles(4 * costs::store);  // who waits, and the link to the others
    cell.deferred.push_back({origin, frame, inlet});
    ++node.counts.deferred;
    co_return;
  }
  co_await cpu.cycles(costs::load + costs::move);
  data[0] = frame;
  data[1] = memories_.at(node_of(cpu), element);
  co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, origin, inlet);
}

Program Tam::handle_store(Processor& cpu) {
  auto& data = cpu.registers().data;
  const Word element = data[0], value = data[1];
  Cell& cell = nodes_[node_of(cpu)].heap[element];
  if (cell.full)
    throw Exception("node " + std::to_string(node_of(cpu)) + ": element " + std::to_string(element) +
                    " of the heap is written twice");
  co_await cpu.cycles(costs::load + 2 * costs::store +
                      costs::branch);  // who waits; the value, that it is there
  memories_.at(node_of(cpu), element) = value;
  cell.full = true;
  for (const Deferred& waits : cell.deferred) {
    data[0] = waits.frame;
    data[1] = value;
    co_await cpu.cycles(4 * costs::load + costs::branch);
    co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, waits.node, waits.inlet);
  }
  cell.deferred.clear();
}

}  // namespace am::t1
