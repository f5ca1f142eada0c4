#include "emulated_hw/t1/programs/split_c.hpp"

#include <algorithm>

#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"
#include "emulated_hw/t1/programs/vectors.hpp"

namespace am::t1 {

namespace {

constexpr Address put_at = 0x4000;
constexpr Address get_at = 0x4100;
constexpr Address value_got_at = 0x4200;
constexpr Address bulk_put_at = 0x4300;
constexpr Address bulk_get_at = 0x4400;
constexpr Address bulk_got_at = 0x4500;
constexpr Address access_done_at = 0x4600;
constexpr Address fetch_and_add_at = 0x4700;
constexpr Address fetched_at = 0x4800;

}  // namespace

SplitC::SplitC(Machine& machine, Memories& memories) : memories_(memories), nodes_(machine.nodes()) {
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    Processor& cpu = machine.node(node);
    cpu.place(put_at, [this](Processor& here) { return handle_put(here); });
    cpu.place(get_at, [this](Processor& here) { return handle_get(here); });
    cpu.place(value_got_at, [this](Processor& here) { return handle_got(here); });
    cpu.place(bulk_put_at, [this](Processor& here) { return handle_bulk_put(here); });
    cpu.place(bulk_get_at, [this](Processor& here) { return handle_bulk_get(here); });
    cpu.place(bulk_got_at, [this](Processor& here) { return handle_bulk_got(here); });
    cpu.place(access_done_at, [this](Processor& here) { return handle_done(here); });
    cpu.place(fetch_and_add_at, [this](Processor& here) { return handle_fetch_and_add(here); });
    cpu.place(fetched_at, [this](Processor& here) { return handle_fetched(here); });
  }
}

// -- routines ---------------------------------------------------------------------------------------------------------

Program SplitC::put(Processor& cpu, GlobalPtr to, Word value) {
  cpu.registers().data = {node_of(cpu), to.offset, value};
  co_await cpu.cycles(3 * costs::move + costs::add);
  ++nodes_[node_of(cpu)].pending;
  co_await send_until_accepted(cpu, {.scalars = 3}, to.node, put_at);
}

Program SplitC::get(Processor& cpu, GlobalPtr from, Word local) {
  cpu.registers().data = {node_of(cpu), from.offset, local};
  co_await cpu.cycles(3 * costs::move + costs::add);
  ++nodes_[node_of(cpu)].pending;
  co_await send_until_accepted(cpu, {.scalars = 3}, from.node, get_at);
}

Program SplitC::bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words) {
  for (Word done = 0; done < words;) {
    const Word some = std::min(words - done, most_vector);
    RegisterSet& registers = cpu.registers();
    registers.data = {node_of(cpu), to.offset + done};
    std::ranges::copy(memories_.block(node_of(cpu), local + done, some), registers.vr1.begin());
    co_await cpu.cycles(3 * costs::move + costs::vector(some) + costs::add);  // vlr, too
    ++nodes_[node_of(cpu)].pending;
    co_await send_until_accepted(cpu, {.scalars = 2, .vector = true}, to.node, bulk_put_at, some);
    co_await cpu.cycles(2 * costs::add + costs::branch);  // both addresses, the loop
    done += some;
  }
}

Program SplitC::bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words) {
  for (Word done = 0; done < words;) {
    const Word some = std::min(words - done, most_vector);
    cpu.registers().data = {node_of(cpu), from.offset + done, local + done, some};
    co_await cpu.cycles(4 * costs::move + costs::add);
    ++nodes_[node_of(cpu)].pending;
    co_await send_until_accepted(cpu, {.scalars = 4}, from.node, bulk_get_at);
    co_await cpu.cycles(2 * costs::add + costs::branch);
    done += some;
  }
}

Program SplitC::sync(Processor& cpu) {
  const Node& node = nodes_[node_of(cpu)];
  do co_await cpu.cycles(costs::look);
  while (node.pending != 0);
}

Program SplitC::fetch_and_add(Processor& cpu, GlobalPtr counter, Word& fetched) {
  Node& node = nodes_[node_of(cpu)];
  cpu.registers().data = {node_of(cpu), counter.offset};
  node.has_fetched = false;
  co_await cpu.cycles(2 * costs::move + costs::move);  // the flag
  co_await send_until_accepted(cpu, {.scalars = 2}, counter.node, fetch_and_add_at);
  do co_await cpu.cycles(costs::look);
  while (!node.has_fetched);
  fetched = node.fetched;
}

// -- handlers ---------------------------------------------------------------------------------------------------------

Program SplitC::handle_put(Processor& cpu) {
  const auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::store);
  memories_.at(node_of(cpu), data[1]) = data[2];
  co_await send_until_accepted(cpu, {.priority = Priority::high}, data[0], access_done_at);
}

Program SplitC::handle_get(Processor& cpu) {
  auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::load + costs::move);
  const Word origin = data[0];
  data[0] = memories_.at(node_of(cpu), data[1]);
  data[1] = data[2];
  co_await send_until_accepted(cpu, {.scalars = 2, .priority = Priority::high}, origin, value_got_at);
}

Program SplitC::handle_got(Processor& cpu) {
  const auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::store + costs::add);
  memories_.at(node_of(cpu), data[1]) = data[0];
  --nodes_[node_of(cpu)].pending;
}

Program SplitC::handle_bulk_put(Processor& cpu) {
  const auto& data = cpu.registers().data;
  co_await store_vector(cpu, memories_, data[1]);
  co_await send_until_accepted(cpu, {.priority = Priority::high}, data[0], access_done_at);
}

Program SplitC::handle_bulk_get(Processor& cpu) {
  RegisterSet& registers = cpu.registers();
  const Word origin = registers.data[0], words = registers.data[3];
  std::ranges::copy(memories_.block(node_of(cpu), registers.data[1], words), registers.vr1.begin());
  registers.data[0] = registers.data[2];
  co_await cpu.cycles(costs::vector(words) + 2 * costs::move);  // vlr, and where it goes
  co_await send_until_accepted(cpu, {.scalars = 1, .vector = true, .priority = Priority::high}, origin,
                               bulk_got_at, words);
}

Program SplitC::handle_bulk_got(Processor& cpu) {
  co_await store_vector(cpu, memories_, cpu.registers().data[0], costs::add);
  --nodes_[node_of(cpu)].pending;
}

Program SplitC::handle_done(Processor& cpu) {
  co_await cpu.cycles(costs::add);
  --nodes_[node_of(cpu)].pending;
}

Program SplitC::handle_fetch_and_add(Processor& cpu) {
  auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::load + costs::add + costs::store);
  const Word origin = data[0];
  Word& counter = memories_.at(node_of(cpu), data[1]);
  data[0] = counter++;
  co_await send_until_accepted(cpu, {.scalars = 1, .priority = Priority::high}, origin, fetched_at);
}

Program SplitC::handle_fetched(Processor& cpu) {
  Node& node = nodes_[node_of(cpu)];
  co_await cpu.cycles(2 * costs::move);
  node.fetched = cpu.registers().data[0];
  node.has_fetched = true;
}

}  // namespace am::t1
