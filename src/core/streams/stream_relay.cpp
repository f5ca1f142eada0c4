#include "core/streams/stream_relay.hpp"

#include <atomic>
#include <cstdint>

#include "host/heavy_fence.hpp"

namespace am::core {

namespace {
// Of one run, markers too: the node has others to serve, however fast both ends are.
constexpr int most_buffers = 16;
}  // namespace

/// ok: none of them is left here, or (next_ is ok) enough of them went.
StreamStatus StreamRelay::pass_on_values(int& buffers) {
  while (buffers < most_buffers) {
    const StreamProgress written = out_->write(values_.data() + first_ * value_bytes_, count_);
    first_ += written.count;
    count_ -= written.count;
    passed_ += written.count;
    if (written.status != StreamStatus::ok) {
      const StreamStatus status = out_->make_room(false);
      if (status != StreamStatus::ok) return status;
      continue;
    }
    first_ = 0;
    ++buffers;
    const StreamProgress read = in_->read(values_.data(), values_.size() / value_bytes_, false);
    count_ = read.count;
    if (count_ == 0) {
      next_ = read.status;
      return StreamStatus::ok;
    }
  }
  next_ = StreamStatus::ok;
  return StreamStatus::ok;
}

bool StreamRelay::is_told_of_room() noexcept {
  std::atomic<std::uint32_t>* const flag = out_->sleeps();
  if (flag == nullptr) return false;
  if (flag->exchange(1, std::memory_order_relaxed) == 0) host::heavy_fence();
  return true;
}

/// Without a fence where the flag is still there.
bool StreamRelay::is_told_of_values() noexcept {
  if (in_->ring_->reader_sleeps.exchange(1, std::memory_order_release) != 0) return false;
  host::heavy_fence();
  return true;
}

StreamRelay::Outcome StreamRelay::run() {
  for (int buffers = 0;; ++buffers) {
    if (const StreamStatus status = pass_on_values(buffers); status != StreamStatus::ok)
      return status == StreamStatus::again ? Outcome::waits_for_room : Outcome::over;
    switch (next_) {
      case StreamStatus::ok:
        return Outcome::goes_on;
      case StreamStatus::marker: {
        const StreamStatus marked = out_->mark(in_->marker_ahead(), false);
        if (marked == StreamStatus::again) return Outcome::waits_for_room;
        if (marked != StreamStatus::ok) return Outcome::over;
        static_cast<void>(in_->take_marker());
        ++passed_;
        break;
      }
      case StreamStatus::ended: {
        const StreamStatus ended = out_->end(false);
        return ended == StreamStatus::again ? Outcome::waits_for_room : Outcome::over;
      }
      case StreamStatus::unreachable:
        return out_->try_cut() == StreamStatus::again ? Outcome::waits_for_room : Outcome::over;
      default:
        static_cast<void>(out_->flush(false));
        return Outcome::waits_for_values;
    }
  }
}

}  // namespace am::core
