// A node that finds nothing to do asks for the lines that it may write next. A node that has sent a payload in a chunk may soon send another
// as long. The reader of the last one has these lines in its cache, and the sender waits for each: a sixth of the time in which 2 KiB are
// written, sent and read. So each poll in vain asks for one line. A stream with polls between gets none: there the look for what came back
// costs more, a third of the time for 4 KiB (chunks.hpp).
//
// Invariant: no line is asked for of a chunk that somebody may be reading, which would take it away from the reader. Chunks::foresee()
// names a place that is free. Whatever is sent from there passes sent(), which begins anew.
#pragma once

#include <algorithm>
#include <am/impl/packet.hpp>
#include <am/impl/prefetch_to_write.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <span>

#include "transports/chunks.hpp"

namespace am::shm {

class LinesAhead {
 public:
  /// A chunk of these has gone to `to`.
  void sent(Chunks& chunks, NodeId to, std::size_t bytes) noexcept {
    chunks_ = &chunks;
    to_ = to;
    bytes_left_ = chunks.is_streamed_to(to, bytes) ? 0 : bytes;
    at_ = nullptr;
  }
  [[nodiscard]] bool any() const noexcept { return bytes_left_ != 0; }
  /// Only if any(). Finds the place at first, then takes a line at a time: what is waited for may come at any moment.
  [[gnu::noinline]] void take_one() noexcept {
    constexpr std::size_t most = std::size_t{16} << 10;  // half of a processor's nearest cache, or less
    if (at_ == nullptr) {
      const std::span<const std::byte> next = chunks_->foresee(to_, bytes_left_);
      at_ = next.data();
      bytes_left_ = std::min(next.size(), most);
    } else {
      impl::prefetch_to_write(at_);
      const std::size_t taken = std::min(bytes_left_, impl::line_bytes);
      at_ += taken;
      bytes_left_ -= taken;
    }
  }

 private:
  Chunks* chunks_ = nullptr;
  NodeId to_ = 0;
  std::size_t bytes_left_ = 0;
  const std::byte* at_ = nullptr;  // null: not known yet
};

}  // namespace am::shm
