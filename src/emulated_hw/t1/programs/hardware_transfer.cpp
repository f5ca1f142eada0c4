#include "emulated_hw/t1/programs/hardware_transfer.hpp"

#include <algorithm>

#include "emulated_hw/t1/programs/instructions.hpp"
#include "emulated_hw/t1/programs/sending.hpp"
#include "emulated_hw/t1/programs/vectors.hpp"

namespace am::t1 {

namespace {

constexpr Address got_at = 0x9000;
constexpr Address final_piece_at = 0x9100;
constexpr Address last_word_at = 0x9200;
constexpr Address done_at = 0x9300;

/// Pointers of programs are addresses: this is no instruction.
constexpr Address address_of(Word offset) noexcept { return offset * bytes_per_word; }

}  // namespace

HardwareTransfer::HardwareTransfer(Machine& machine, Memories& memories)
    : memories_(memories), pending_(machine.nodes()) {
  for (NodeNumber node = 0; node < machine.nodes(); ++node) {
    Processor& cpu = machine.node(node);
    cpu.place(got_at, [this](Processor& here) { return handle_got(here); });
    cpu.place(final_piece_at, [this](Processor& here) { return handle_last_piece(here); });
    cpu.place(last_word_at, [this](Processor& here) { return handle_last_word(here); });
    cpu.place(done_at, [this](Processor& here) { return handle_done(here); });
  }
}

// -- routines ---------------------------------------------------------------------------------------------------------

Program HardwareTransfer::get(Processor& cpu, GlobalPtr from, Word local) {
  return fetch(cpu, from, local, 1, got_at);
}

Program HardwareTransfer::fetch(Processor& cpu, GlobalPtr from, Word local, Word words, Address handler) {
  cpu.registers().data = {node_of(cpu), handler, address_of(from.offset), words, local};
  co_await cpu.cycles(5 * costs::move + costs::add);
  ++pending_[node_of(cpu)];
  co_await send_until_accepted(cpu, {.scalars = 5}, from.node, hardware::fetch);
}

Program HardwareTransfer::bulk_get(Processor& cpu, GlobalPtr from, Word local, Word words) {
  if (words == 0) co_return;
  const Word last = (words - 1) % most_vector + 1;
  for (Word done = 0; done < words - last; done += most_vector) {
    cpu.registers().data = {node_of(cpu), hardware::store, address_of(from.offset + done), most_vector,
                            address_of(local + done)};
    co_await cpu.cycles(5 * costs::move);
    co_await send_until_accepted(cpu, {.scalars = 5}, from.node, hardware::fetch);
    co_await cpu.cycles(2 * costs::add + costs::branch);  // both addresses, the loop
  }
  co_await fetch(cpu, {.node = from.node, .offset = from.offset + words - last}, local + words - last, last,
                 last == 1 ? got_at : final_piece_at);
}

Program HardwareTransfer::bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words) {
  if (words == 0) co_return;
  for (Word done = 0; done < words - 1;) {
    const Word some = std::min(words - 1 - done, most_vector);
    RegisterSet& registers = cpu.registers();
    registers.data[0] = address_of(to.offset + done);
    std::ranges::copy(memories_.block(node_of(cpu), local + done, some), registers.vr1.begin());
    co_await cpu.cycles(2 * costs::move + costs::vector(some));  // vlr, too
    co_await send_until_accepted(cpu, {.scalars = 1, .vector = true}, to.node, hardware::store, some);
    co_await cpu.cycles(2 * costs::add + costs::branch);
    done += some;
  }
  cpu.registers().data = {node_of(cpu), to.offset + words - 1, memories_.at(node_of(cpu), local + words - 1)};
  co_await cpu.cycles(2 * costs::move + costs::load + costs::add);
  ++pending_[node_of(cpu)];
  co_await send_until_accepted(cpu, {.scalars = 3}, to.node, last_word_at);
}

Program HardwareTransfer::sync(Processor& cpu) {
  const Word& pending = pending_[node_of(cpu)];
  do co_await cpu.cycles(costs::look);
  while (pending != 0);
}

// -- handlers ---------------------------------------------------------------------------------------------------------

Program HardwareTransfer::handle_got(Processor& cpu) {
  const auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::store + costs::add);
  memories_.at(node_of(cpu), data[0]) = data[1];
  --pending_[node_of(cpu)];
}

Program HardwareTransfer::handle_last_piece(Processor& cpu) {
  co_await store_vector(cpu, memories_, cpu.registers().data[0], costs::add);
  --pending_[node_of(cpu)];
}

Program HardwareTransfer::handle_last_word(Processor& cpu) {
  const auto& data = cpu.registers().data;
  co_await cpu.cycles(costs::store);
  memories_.at(node_of(cpu), data[1]) = data[2];
  co_await send_until_accepted(cpu, {.priority = Priority::high}, data[0], done_at);
}

Program HardwareTransfer::handle_done(Processor& cpu) {
  co_await cpu.cycles(costs::add);
  --pending_[node_of(cpu)];
}

}  // namespace am::t1
