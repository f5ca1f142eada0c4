#include "emulated_hw/care/packet_source.hpp"

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

}  // namespace am::care
