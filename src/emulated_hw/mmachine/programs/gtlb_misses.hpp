// The handler of GTLB misses (3.3.1): it reads the event, writes the entry that the system has for the address over the oldest, fetches the
// message's body from the registers of the thread that sent it, sends it, and fills that thread's condition register. Then it clears the
// flag, and ordered messages go on, unless another ordered one has missed meanwhile (chip.hpp): so none has overtaken.
//
// The message goes by a physically addressed SEND of the system that is not throttled: its buffer has been taken. What the thesis leaves open
// is how its DestAddr, a pointer, goes with it; here such a SEND may name the node beside its operands (Thread::Sent::node).
//
// A message whose address the system does not know either is dropped and counted; its buffer is given back, its condition stays empty.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 3.3.1, 4.2.1, 4.2.3.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/event_queue.hpp"
#include "emulated_hw/mmachine/thread.hpp"

namespace am::mmachine {

class GtlbMisses {
 public:
  /// The entry for an address, as the system keeps them; none: there is none.
  using Mappings = std::function<std::optional<Gtlb::Entry>(std::uint64_t address)>;

  explicit GtlbMisses(Mappings mappings) : mappings_(std::move(mappings)) {}

  /// For the slot of events (Chip::event_cluster): it does not end. It refers to this.
  [[nodiscard]] Program serve(Thread& thread) {
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

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  static constexpr unsigned look_up_cycles = 20;  // of the system's tables: assumed

  Program resend(Thread& thread, GtlbMiss miss, NodePlace node) {
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

  Mappings mappings_;
  unsigned oldest_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace am::mmachine
