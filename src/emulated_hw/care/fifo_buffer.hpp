// A fifo-buffer: a queue of packets between an operator and the network (Byrd, Nakano and Delagi 1987, 4.4, Table E). It drops pads, and asks
// for an abort where a packet's terminator does not come in time (4.1).
//
// An abort-request takes the place of another signal for a cycle, so no word is taken in it. Assumed: one that had no effect is repeated after
// the same time again; both fifo-buffers of a site have the timeout, but an operator aborts nothing.
#pragma once

#include <cstdint>

#include "emulated_hw/care/packet_source.hpp"
#include "emulated_hw/care/state_machines.hpp"

namespace am::care {

class FifoBuffer {
 public:
  using State = buffer::State;
  using When = buffer::When;

  /// The options and counts outlive it. `number`: of all fifo-buffers of a machine, for the seed of its timeouts.
  FifoBuffer(const Options& options, Counts& counts, std::uint32_t number) noexcept
      : options_(options), counts_(counts), queue_(options), random_(options.seed + number) {}

  /// An odd phase.
  void step_input(const Wire& packet_in, Cycle now);
  /// An even phase.
  void step_output(Status status_in, Cycle now) { queue_.step(status_in, now); }
  [[nodiscard]] const Wire& packet_out() const noexcept { return queue_.packet_out(); }
  [[nodiscard]] Status status_out() const noexcept { return machine_.status(); }

  [[nodiscard]] const BufferMachine& machine() const noexcept { return machine_; }
  [[nodiscard]] const PacketSource& queue() const noexcept { return queue_; }
  [[nodiscard]] bool is_full() const noexcept {
    return options_.buffer_size && queue_.places() >= *options_.buffer_size;
  }
  [[nodiscard]] bool is_idle() const noexcept { return machine_.is(State::free) && queue_.is_idle(); }

 private:
  [[nodiscard]] bool is_time_out(const Wire& packet_in, Cycle now);
  void start_timeout(Cycle now);
  void take(const Wire& packet_in);

  const Options& options_;
  Counts& counts_;
  BufferMachine machine_;
  PacketSource queue_;
  Terminator terminator_ = Terminator::none;  // received, and not queued
  std::uint64_t random_;
  Cycle expires_at_ = 0;
  Cycle pads_in_a_row_ = 0;
};

}  // namespace am::care
