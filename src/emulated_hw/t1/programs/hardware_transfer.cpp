#include "emulated_hw/t1/programs/hardware_transfer.hpp"

#include <algorithm>

namespace am::t1 {

namespace {

/// Pointers of programs are addresses: this is no instruction.
constexpr Address address_of(Word offset) noexcept { return offset * bytes_per_word; }

}  // namespace

Program HardwareTransfer::fetch(Processor& cpu, GlobalPtr from, Word local, Word words) {
  cpu.registers().data = {node_of(cpu), words == 1 ? got_at : bulk_got_at, address_of(from.offset), words,
                          local};
  co_await cpu.cycles(5 * costs::move + costs::add);
  asks(cpu);
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
  co_await fetch(cpu, {.node = from.node, .offset = from.offset + words - last}, local + words - last, last);
}

Program HardwareTransfer::bulk_put(Processor& cpu, GlobalPtr to, Word local, Word words) {
  if (words == 0) co_return;
  for (Word done = 0; done < words - 1;) {
    const Word some = std::min(words - 1 - done, most_vector);
    RegisterSet& registers = cpu.registers();
    registers.data[0] = address_of(to.offset + done);
    std::ranges::copy(memories().block(node_of(cpu), local + done, some), registers.vr1.begin());
    co_await cpu.cycles(2 * costs::move + costs::vector(some));  // vlr, too
    co_await send_until_accepted(cpu, {.scalars = 1, .vector = true}, to.node, hardware::store, some);
    co_await cpu.cycles(2 * costs::add + costs::branch);
    done += some;
  }
  co_await put(cpu, {.node = to.node, .offset = to.offset + words - 1},
               memories().at(node_of(cpu), local + words - 1));
}

}  // namespace am::t1
