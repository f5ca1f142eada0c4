// Which bytes of a node's own segment are in use. Works on offsets alone and touches no memory; the node's own thread.
//
// Two ends. Blocks at the low end depend on nothing but the calls for the low end: nodes that make the same calls there,
// in the same order, get the same offsets, whatever each does at the high end. That is what symmetric allocation stands
// on. Both ends grow towards the middle; a block is found by first fit, and freed neighbours are joined.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace am::core {

class SegmentHeap {
 public:
  enum class End { low, high };
  struct Block {
    std::size_t offset;
    bool used_before;  ///< a part of it was in use before, so its contents are arbitrary
  };

  /// `alignment` is a power of two; what `bytes` has beyond a multiple of it is never given out.
  SegmentHeap(std::size_t bytes, std::size_t alignment) noexcept;

  /// Empty when there is no room. A block of 0 bytes has an offset of its own, too.
  [[nodiscard]] std::optional<Block> allocate(std::size_t bytes, End end);
  /// Takes back the block that begins at `offset`; false when there is none.
  [[nodiscard]] bool release(std::size_t offset);
  [[nodiscard]] std::size_t largest_free(End end) const noexcept;

 private:
  struct InUse {
    std::size_t bytes;
    End end;
  };
  using Holes = std::map<std::size_t, std::size_t>;  // offset -> bytes

  [[nodiscard]] Holes& holes(End end) noexcept { return holes_[end == End::low ? 0 : 1]; }
  [[nodiscard]] const Holes& holes(End end) const noexcept { return holes_[end == End::low ? 0 : 1]; }
  [[nodiscard]] std::optional<std::size_t> place(std::size_t bytes, End end);
  void give_to_middle(End end);

  const std::size_t alignment_;
  std::size_t low_ = 0;  // the middle, which belongs to neither end: [low_, high_)
  std::size_t high_;
  std::size_t unused_low_ = 0;  // never in use since the beginning: [unused_low_, unused_high_)
  std::size_t unused_high_;
  std::map<std::size_t, InUse> in_use_;
  Holes holes_[2];  // freed blocks between blocks in use
};

}  // namespace am::core
