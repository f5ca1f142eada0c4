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

#include <cstdint>
#include <functional>
#include <optional>

#include "emulated_hw/mmachine/event_queue.hpp"
#include "emulated_hw/mmachine/thread.hpp"

namespace am::mmachine {

class GtlbMisses {
 public:
  /// The entry for an address, as the system keeps them; none: there is none.
  using Mappings = std::function<std::optional<Gtlb::Entry>(std::uint64_t address)>;

  explicit GtlbMisses(Mappings mappings) : mappings_(std::move(mappings)) {}

  /// For the slot of events (Chip::event_cluster): it does not end. It refers to this.
  [[nodiscard]] Program serve(Thread& thread);

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  Program resend(Thread& thread, GtlbMiss miss, NodePlace node);

  Mappings mappings_;
  unsigned oldest_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace am::mmachine
