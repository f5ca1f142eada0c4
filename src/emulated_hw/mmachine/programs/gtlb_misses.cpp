#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"

#include <array>

#include "emulated_hw/mmachine/chip.hpp"

namespace am::mmachine {

namespace {

constexpr unsigned look_up_cycles = 20;  // of the system's tables: assumed

}  // namespace

Program GtlbMisses::serve(Thread& thread) {
  for (;;) {
    std::array<Word, GtlbMiss::words> event;
    for (Word& word : event) {
      word = co_await thread.event_word();
      co_await thread.cycles(1);
    }
    const GtlbMiss miss = GtlbMiss::of(event);
    const std::uint64_t address = GuardedPointer::of(miss.destination)->address();
    co_await thread.cycles(look_up_cycles);
    const std::optional<Gtlb::Entry> entry = mappings_(address);
    const unsigned index = oldest_;
    if (entry) {
      oldest_ = (oldest_ + 1) % Gtlb::entries;
      co_await thread.write_gtlb(index, *entry, false);
    }
    const auto found = co_await thread.probe_gtlb(address);
    if (found) {
      co_await resend(thread, miss, found->node);
      ++sent_;
    } else {
      ++dropped_;
      if (miss.took_buffer) co_await thread.give_back_buffer();
    }
    const Gtlb::Entry again = co_await thread.read_gtlb(index);
    co_await thread.write_gtlb(index, again, true);
  }
}

Program GtlbMisses::resend(Thread& thread, GtlbMiss miss, NodePlace node) {
  Thread& sender = thread.chip().thread(miss.cluster, miss.slot);
  const auto& body = miss.floating ? sender.floating : sender.integers;
  for (unsigned word = 0; word < miss.argcount; ++word) {
    thread.integers[word] = body[word];
    co_await thread.cycles(1);
  }
  constexpr unsigned own_condition = 0;
  co_await thread.send({.instruction = miss.ordered ? Send::isnd0pnto : Send::isnd0pnt,
                        .destination = miss.destination,
                        .handler = miss.handler,
                        .argcount = miss.argcount,
                        .condition = own_condition,
                        .node = node});
  co_await thread.full(own_condition);
  sender.fill(miss.condition);
}

}  // namespace am::mmachine
