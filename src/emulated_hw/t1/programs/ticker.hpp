// Something that is done at equal intervals while the computation goes on: timelets, each of which sets the next (T1 report, 3.9, A.2.2,
// A.9.3).
//
// "It is anticipated that it may serve a function similar to the outlet event": with an action that sends a piece of a transfer it
// leaves the computation a share that does not depend on the network (background_transfer.hpp).
#pragma once

#include <cstdint>

#include "emulated_hw/t1/processor.hpp"

namespace am::t1 {

class Ticker {
 public:
  /// Places its handler at `at`. `action` runs in it. The processor outlives it, and it outlives what that runs. Throws
  /// std::invalid_argument when the period is shorter than its own instructions take.
  Ticker(Processor& cpu, Address at, Word period, Processor::Code action);
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// The first tick is a period after the start. One ticker of a processor runs at a time.
  Program start(Processor& cpu);
  /// No more ticks, but for one that is pending. For the action, too.
  void stop() noexcept { runs_ = false; }

  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }
  /// Ticks that were over before the handler of an earlier one was done: they are left out.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  Program handle(Processor& cpu);
  Program set_next(Processor& cpu, Word after);

  const Address at_;
  const Word period_;
  const Processor::Code action_;
  bool runs_ = false;
  std::uint64_t ticks_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace am::t1
