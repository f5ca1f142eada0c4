#include "emulated_hw/care/fifo_buffer.hpp"

namespace am::care {

void FifoBuffer::step_input(const Wire& packet_in, Cycle now) {
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

void FifoBuffer::take(const Wire& packet_in) {
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

bool FifoBuffer::is_time_out(const Wire& packet_in, Cycle now) {
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

void FifoBuffer::start_timeout(Cycle now) {
  pads_in_a_row_ = 0;
  expires_at_ = now + options_.timeouts.limit;
  if (options_.timeouts.kind != Timeouts::Kind::random || options_.timeouts.limit == 0) return;
  random_ += 0x9e3779b97f4a7c15u;  // splitmix64
  std::uint64_t z = (random_ ^ random_ >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  expires_at_ += (z ^ z >> 31) % options_.timeouts.limit;
}

}  // namespace am::care
