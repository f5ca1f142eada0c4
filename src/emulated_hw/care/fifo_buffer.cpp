#include "emulated_hw/care/fifo_buffer.hpp"

#include <algorithm>

namespace am::care {

void PacketSource::push(const Word& word) {
  const bool begins = items_.empty() ? !in_packet_ : items_.back().terminator != Terminator::none;
  if (!is_timed() || begins) ++places_;
  if (begins) ++packets_;
  items_.push_back({.word = word});
}

void PacketSource::push(Terminator terminator) {
  ++places_;
  items_.push_back({.terminator = terminator});
}

std::optional<PacketNumber> PacketSource::first() const noexcept {
  if (in_packet_ || out_.word) return out_.word.packet;
  if (items_.empty()) return std::nullopt;
  return items_.front().word.packet;
}

void PacketSource::pop() {
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

void PacketSource::step(Status status_in, Cycle now) {
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

/// The rows of Figure 10 from busy and done. Whether the last, `done -OND/term-> free`, may be taken.
bool PacketSource::may_terminate(bool waits, Cycle now) {
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
void PacketSource::resume(Cycle now) {
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
