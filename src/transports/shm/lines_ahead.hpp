// The lines that a node will write next, taken beforehand. Whoever has sent a payload in a chunk may soon send another as long. Its lines
// lie in the cache of whoever read them last, and the sender would wait for each: that is up to a sixth of the time in which 2 KiB
// are written, sent and read. So a node that finds nothing to do asks for a line in each poll, as long as there are some. Not in a stream,
// though with polls between: there, looking what came back costs more than that (chunks.hpp; a third of a stream of 4 KiB).
//
// Invariant: none of a chunk that somebody may be reading is asked for, which would take it away from the reader. Chunks::foresee()
// names a place that is free; what lies there is sent by sent(), and that begins anew.
#pragma once

#include <algorithm>
#include <am/impl/packet.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <span>

#include "host/want_to_write.hpp"
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
      host::want_to_write(at_);
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
