// The memory segments of a job as one node sees them: where each peer's lies in this process, which part of its own is in
// use, and what to do about the peers whose memory loads and stores do not reach.
//
// Used by the node's own thread.
#pragma once

#include <am/impl/global_access.hpp>
#include <am/impl/peer_segment.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <span>

#include "core/memory/guarded_accesses.hpp"
#include "core/memory/remote_memory.hpp"
#include "core/memory/segment_heap.hpp"
#include "host/zeroed_array.hpp"

namespace am::core {

class Engine;

class GlobalMemory {
 public:
  /// Throws am::Error when the settings ask for a segment of impossible size.
  explicit GlobalMemory(Engine& engine);

  /// What the inline functions of am/global.hpp look at: a peer's entry stays empty until reach() has mapped it.
  [[nodiscard]] impl::PeerSegment* peers() noexcept { return peers_.get(); }

  /// As if nothing had been used yet, for a forked child.
  void forget_segments() noexcept;

  /// Where `bytes` bytes at `at` lie in this process; null when that node's memory is reached by messages only. Throws
  /// am::Error, in the name of `what`, when they are not in that node's segment.
  [[nodiscard]] std::byte* reach(impl::GlobalAddress at, std::size_t bytes, const char* what);
  /// The node's own memory at `offset`; null outside it.
  [[nodiscard]] std::byte* own(std::uint64_t offset, std::size_t bytes);
  /// The same, null also where it is not mapped yet.
  [[nodiscard]] std::byte* own_if_mapped(std::uint64_t offset, std::size_t bytes) const noexcept;
  [[nodiscard]] std::span<std::byte> own_segment();
  /// Whether there is memory for a part of the own segment that is given out. To be asked before it is touched.
  [[nodiscard]] bool has_memory_for(std::size_t offset, std::size_t bytes);

  [[nodiscard]] SegmentHeap& heap() noexcept { return heap_; }
  [[nodiscard]] RemoteMemory& remote() noexcept { return remote_; }
  [[nodiscard]] GuardedAccesses& guarded() noexcept { return guarded_; }

 private:
  std::byte* map(NodeId peer);

  Engine& engine_;
  host::ZeroedArray<impl::PeerSegment> peers_;
  SegmentHeap heap_;
  RemoteMemory remote_;
  GuardedAccesses guarded_;
  bool all_has_memory_ = false;  // the whole own segment
};

}  // namespace am::core
