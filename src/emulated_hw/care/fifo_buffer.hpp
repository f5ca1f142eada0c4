// A fifo-buffer: a queue of packets between an operator and the network (Byrd, Nakano and Delagi 1987, 4.4, Table E). It drops pads, and asks
// for an abort where a packet's terminator does not come in time (4.1).
//
// An abort-request takes the place of another signal for a cycle, so no word is taken in it. Assumed: one that had no effect is repeated after
// the same time again; both fifo-buffers of a site have the timeout, but an operator aborts nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "emulated_hw/care/state_machines.hpp"

namespace am::care {

/// A queue of packets, and how it sends them downstream: the output side of a fifo-buffer (4.4), and an operator's way out (4.3.1).
///
/// Word by word: the oldest item whenever status-in allows it; `wait` halts. By two events (5.1, 5.2, Figure 10): the front of a packet goes, and
/// its terminator follows after the time that its words would take, and whatever `wait` adds to it. The front is the target list, one entry in
/// each cycle, as a router takes it; then `busy` begins.
class PacketSource {
 public:
  /// Figure 10.
  enum class Transmission : std::uint8_t { free, busy, done };

  explicit PacketSource(const Options& options) noexcept : options_(options) {}

  void push(const Word& word);
  void push(Terminator terminator);
  /// Places that are taken: by each item, or by each packet and each terminator (5.2).
  [[nodiscard]] std::uint32_t places() const noexcept { return places_; }
  /// Packets of which the terminator has not been sent.
  [[nodiscard]] std::uint32_t packets() const noexcept { return packets_; }
  /// The packet that is being sent, or goes next.
  [[nodiscard]] std::optional<PacketNumber> first() const noexcept;

  /// An even phase, with what downstream says.
  void step(Status status_in, Cycle now);
  [[nodiscard]] const Wire& packet_out() const noexcept { return out_; }
  [[nodiscard]] Transmission transmission() const noexcept { return transmission_; }
  [[nodiscard]] bool is_idle() const noexcept {
    return items_.empty() && !in_packet_ && !out_.word && out_.terminator == Terminator::none;
  }

 private:
  struct Item {
    Word word{};
    Terminator terminator = Terminator::none;
  };

  [[nodiscard]] bool is_timed() const noexcept { return options_.fidelity == Fidelity::two_events; }
  void pop();
  [[nodiscard]] bool may_terminate(bool waits, Cycle now);
  void resume(Cycle now);

  const Options& options_;
  std::deque<Item> items_;
  std::uint32_t places_ = 0;
  std::uint32_t packets_ = 0;
  Wire out_{};
  bool in_packet_ = false;  // of which the terminator is still to go
  Transmission transmission_ = Transmission::free;
  Cycle done_at_ = 0;
  Cycle delay_ = 0;
  std::optional<Cycle> last_wait_;
};

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

  /// The timeout of a packet that is coming is over now: to try every moment.
  void expire() noexcept { expires_at_ = 0; }

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
