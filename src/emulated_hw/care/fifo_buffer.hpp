// A fifo-buffer: a queue of packets between an operator and the network (Byrd, Nakano and Delagi 1987, 4.4, Table E). It drops pads, and asks
// for an abort where a packet's terminator does not come in time (4.1).
//
// An abort-request takes the place of another signal for a cycle, so no word is taken in it. Assumed: one that had no effect is repeated after
// the same time again; both fifo-buffers of a site have the timeout, but an operator aborts nothing.
#pragma once

#include <algorithm>
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

  void push(const Word& word) {
    const bool begins = items_.empty() ? !in_packet_ : items_.back().terminator != Terminator::none;
    if (!is_timed() || begins) ++places_;
    if (begins) ++packets_;
    items_.push_back({.word = word});
  }
  void push(Terminator terminator) {
    ++places_;
    items_.push_back({.terminator = terminator});
  }
  /// Places that are taken: by each item, or by each packet and each terminator (5.2).
  [[nodiscard]] std::uint32_t places() const noexcept { return places_; }
  /// Packets of which the terminator has not been sent.
  [[nodiscard]] std::uint32_t packets() const noexcept { return packets_; }
  /// The packet that is being sent, or goes next.
  [[nodiscard]] std::optional<PacketNumber> first() const noexcept {
    if (in_packet_ || out_.word) return out_.word.packet;
    if (items_.empty()) return std::nullopt;
    return items_.front().word.packet;
  }

  /// An even phase, with what downstream says.
  void step(Status status_in, Cycle now) {
    const bool waits = status_in == Status::wait || status_in == Status::abort_request;
    out_.terminator = Terminator::none;
    if (!in_packet_) {
      out_.word = {};
      if (status_in != Status::free || items_.empty()) return;
    } else {
      if (transmission_ != Transmission::free && !may_terminate(waits, now)) {
        if (!waits) out_.word.kind = Word::Kind::none;
        return;
      }
      if (waits) return;
      out_.word.kind = Word::Kind::none;  // it has been taken
      if (items_.empty()) return;
    }
    pop();
    if (!in_packet_) {
      transmission_ = Transmission::free;
    } else if (is_timed() && out_.word.last) {
      transmission_ = Transmission::busy;
      done_at_ = now + out_.word.words + 1;
      delay_ = 0;
      last_wait_.reset();
    }
  }
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
  void pop() {
    const Item item = items_.front();
    items_.pop_front();
    const bool begins = !in_packet_;
    if (!is_timed() || begins || item.terminator != Terminator::none) --places_;
    in_packet_ = item.terminator == Terminator::none;
    if (in_packet_) {
      out_.word = item.word;
    } else {
      out_.terminator = item.terminator;
      --packets_;
    }
  }
  /// The rows of Figure 10 from busy and done. Whether the last, `done -OND/term-> free`, may be taken.
  [[nodiscard]] bool may_terminate(bool waits, Cycle now) {
    if (transmission_ == Transmission::busy && now >= done_at_) transmission_ = Transmission::done;
    if (waits) {
      if (!last_wait_) last_wait_ = now;
      return false;
    }
    if (transmission_ == Transmission::busy) {
      if (last_wait_) delay_ += now - *last_wait_;
      last_wait_.reset();
      return false;
    }
    if (delay_ != 0 || last_wait_) resume(now);
    return transmission_ == Transmission::done;
  }
  /// `done -WD/busy-> busy`: open is received, and the transmission has waited (the text of 5.2 says open where the figure says wait).
  void resume(Cycle now) {
    if (last_wait_ && options_.delays_as_printed) {
      delay_ += now - *last_wait_;
    } else if (last_wait_) {
      delay_ += done_at_ - std::min(done_at_, *last_wait_);
    }
    last_wait_.reset();
    done_at_ = now + delay_;
    delay_ = 0;
    transmission_ = now >= done_at_ ? Transmission::done : Transmission::busy;
  }

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
  void step_input(const Wire& packet_in, Cycle now) {
    if (machine_.is(State::done)) machine_.enter(When::tq);
    if (machine_.is(State::free)) {
      if (!packet_in.word.is_target()) return;
      start_timeout(now);
      machine_.enter(is_full() ? When::df : When::dnf);
      if (machine_.is(State::open)) queue_.push(packet_in.word);
      return;
    }
    if (machine_.is(State::done_wait)) {
      if (is_full()) return;
      queue_.push(terminator_);
      machine_.enter(When::nf);
      return;
    }
    if (machine_.status() == Status::abort_request)
      machine_.say(machine_.is(State::open) ? Status::open : Status::wait);
    if (is_time_out(packet_in, now)) {
      machine_.enter(When::timeout);
      ++counts_.abort_requests;
      return;
    }
    take(packet_in);
  }
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
  [[nodiscard]] bool is_time_out(const Wire& packet_in, Cycle now) {
    if (packet_in.terminator != Terminator::none) return false;
    switch (options_.timeouts.kind) {
      case Timeouts::Kind::off:
        return false;
      case Timeouts::Kind::pads:
        if (pads_in_a_row_ < options_.timeouts.limit) return false;
        break;
      default:
        if (now < expires_at_) return false;
    }
    start_timeout(now);
    return true;
  }
  void start_timeout(Cycle now) {
    pads_in_a_row_ = 0;
    expires_at_ = now + options_.timeouts.limit;
    if (options_.timeouts.kind != Timeouts::Kind::random || options_.timeouts.limit == 0) return;
    random_ += 0x9e3779b97f4a7c15u;  // splitmix64
    std::uint64_t z = (random_ ^ random_ >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    expires_at_ += (z ^ z >> 31) % options_.timeouts.limit;
  }
  void take(const Wire& packet_in) {
    // By two events a queue does not fill up in mid-packet (5.2).
    const bool full = is_full() && (options_.fidelity == Fidelity::words || machine_.is(State::wait) ||
                                    packet_in.terminator != Terminator::none);
    if (machine_.is(State::wait)) {
      if (full) return;
      machine_.enter(When::nf);
    }
    if (packet_in.terminator != Terminator::none) {
      machine_.enter(full ? When::tf : When::tnf);
      terminator_ = packet_in.terminator;
      if (!full) queue_.push(terminator_);
    } else if (full) {
      machine_.enter(When::f);
    } else if (packet_in.word.kind == Word::Kind::pad) {
      ++counts_.dropped_pads;
      ++pads_in_a_row_;
    } else if (packet_in.word) {
      pads_in_a_row_ = 0;
      queue_.push(packet_in.word);
    }
  }

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
