#include "core/memory/segment_heap.hpp"

#include <algorithm>

namespace am::core {

SegmentHeap::SegmentHeap(std::size_t bytes, std::size_t alignment) noexcept
    : alignment_(alignment), high_(bytes / alignment * alignment), unused_high_(high_) {}

std::optional<SegmentHeap::Block> SegmentHeap::allocate(std::size_t bytes, End end) {
  if (bytes > largest_free(end)) return {};
  const std::size_t size = std::max((bytes + alignment_ - 1) / alignment_ * alignment_, alignment_);
  const std::optional<std::size_t> offset = place(size, end);
  if (!offset) return {};
  in_use_.emplace(*offset, InUse{size, end});
  const bool used_before = *offset < unused_low_ || *offset + size > unused_high_;
  unused_low_ = std::max(unused_low_, low_);
  unused_high_ = std::min(unused_high_, high_);
  return Block{*offset, used_before};
}

std::optional<std::size_t> SegmentHeap::place(std::size_t bytes, End end) {
  Holes& free = holes(end);
  const auto hole =
      std::ranges::find_if(free, [&](const auto& candidate) { return candidate.second >= bytes; });
  if (hole != free.end()) {
    const auto [offset, room] = *hole;
    free.erase(hole);
    if (room > bytes) free.emplace(offset + bytes, room - bytes);
    return offset;
  }
  if (high_ - low_ < bytes) return {};
  if (end == End::low) {
    low_ += bytes;
    return low_ - bytes;
  }
  high_ -= bytes;
  return high_;
}

bool SegmentHeap::release(std::size_t offset) {
  const auto block = in_use_.find(offset);
  if (block == in_use_.end()) return false;
  auto [bytes, end] = block->second;
  in_use_.erase(block);

  Holes& free = holes(end);
  auto next = free.lower_bound(offset);
  if (next != free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      free.erase(previous);
    }
  }
  free.emplace(offset, bytes);
  give_to_middle(end);
  return true;
}

/// A hole at the border belongs to the middle, where either end can have it.
void SegmentHeap::give_to_middle(End end) {
  Holes& free = holes(end);
  if (end == End::low) {
    const auto last = std::prev(free.end());
    if (last->first + last->second != low_) return;
    low_ = last->first;
    free.erase(last);
  } else {
    const auto first = free.begin();
    if (first->first != high_) return;
    high_ += first->second;
    free.erase(first);
  }
}

std::size_t SegmentHeap::largest_free(End end) const noexcept {
  std::size_t largest = high_ - low_;
  for (const auto& [offset, bytes] : holes(end)) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace am::core
