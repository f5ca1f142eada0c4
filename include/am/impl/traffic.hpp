// The counters of one node about one peer at one priority. They lie in the job's shared segment, so that they can be
// read from outside while the job runs. One writer, the node itself; readers may be a few messages behind.
#pragma once

#include <am/impl/packet.hpp>

namespace am::impl {

struct alignas(line_bytes) Traffic {
  std::atomic<std::uint64_t> sent_messages;
  std::atomic<std::uint64_t> sent_bytes;  ///< arguments and payload
  std::atomic<std::uint64_t> again;       ///< sends that were answered `again`
  std::atomic<std::uint64_t> received_messages;
  std::atomic<std::uint64_t> received_bytes;
};

/// Adds to a counter that has one writer: a plain addition, no locked instruction. Relaxed: counters order nothing.
[[gnu::always_inline]] inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace am::impl
