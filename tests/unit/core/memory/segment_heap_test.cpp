#include "core/memory/segment_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/random.hpp"

namespace am::core::segment_heap_test {

using End = SegmentHeap::End;

constexpr std::size_t alignment = 64;

TEST(SegmentHeap, GivesAlignedBlocksFromBothEndsAlsoEmptyOnes) {
  SegmentHeap heap(1024 + 63, alignment);
  EXPECT_EQ(heap.allocate(0, End::low)->offset, 0u);
  EXPECT_EQ(heap.allocate(64, End::low)->offset, 64u);
  EXPECT_EQ(heap.allocate(65, End::low)->offset, 128u);
  EXPECT_EQ(heap.allocate(1, End::high)->offset, 960u);
  EXPECT_EQ(heap.allocate(100, End::high)->offset, 832u);
}

TEST(SegmentHeap, HasNoRoomForMoreThanThereIs) {
  SegmentHeap heap(1024, alignment);
  EXPECT_FALSE(heap.allocate(1025, End::low));
  EXPECT_FALSE(heap.allocate(SIZE_MAX, End::low));
  EXPECT_FALSE(heap.allocate(SIZE_MAX - 62, End::high));
  EXPECT_TRUE(heap.allocate(1024, End::high));
  EXPECT_FALSE(heap.allocate(1, End::low));
  EXPECT_FALSE(heap.allocate(0, End::high));
  EXPECT_FALSE(SegmentHeap(0, alignment).allocate(0, End::low));
  EXPECT_FALSE(SegmentHeap(63, alignment).allocate(1, End::low));
}

TEST(SegmentHeap, JoinsFreedNeighboursInAnyOrder) {
  constexpr std::size_t three_lines = 192;
  for (const End end : {End::low, End::high}) {
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      SegmentHeap heap(three_lines, alignment);
      std::array<std::size_t, 3> blocks{};
      for (std::size_t& block : blocks) block = heap.allocate(64, end)->offset;
      for (const std::size_t i : order) EXPECT_TRUE(heap.release(blocks[i]));
      EXPECT_EQ(heap.largest_free(End::low), three_lines) << "either end has it all again";
      EXPECT_EQ(heap.largest_free(End::high), three_lines);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(SegmentHeap, SaysWhetherABlockWasUsedBefore) {
  SegmentHeap heap(1024, alignment);
  const auto low = heap.allocate(128, End::low);
  const auto high = heap.allocate(128, End::high);
  EXPECT_FALSE(low->used_before);
  EXPECT_FALSE(high->used_before);
  EXPECT_TRUE(heap.release(low->offset) && heap.release(high->offset));
  EXPECT_TRUE(heap.allocate(64, End::low)->used_before);
  EXPECT_TRUE(heap.allocate(128, End::low)->used_before) << "its first half was used";
  EXPECT_FALSE(heap.allocate(64, End::low)->used_before);
  EXPECT_TRUE(heap.allocate(256, End::high)->used_before);
  EXPECT_FALSE(heap.allocate(64, End::high)->used_before);
}

// What symmetric allocation stands on.
TEST(SegmentHeap, PlacesLowBlocksByTheCallsForTheLowEndAlone) {
  test::Random common(test::seed());
  test::Random own(test::seed() + 1);
  SegmentHeap quiet(1 << 20, alignment);
  SegmentHeap busy(1 << 20, alignment);
  std::vector<std::size_t> low;
  std::vector<std::size_t> high;
  for (int i = 0; i < 2000; ++i) {
    if (!low.empty() && common.one_in(2)) {
      const std::size_t chosen = common.below(low.size());
      ASSERT_TRUE(quiet.release(low[chosen]));
      ASSERT_TRUE(busy.release(low[chosen]));
      low.erase(low.begin() + static_cast<std::ptrdiff_t>(chosen));
    } else {
      const std::size_t bytes = common.below(2000);
      const auto first = quiet.allocate(bytes, End::low);
      const auto second = busy.allocate(bytes, End::low);
      ASSERT_TRUE(first && second);
      ASSERT_EQ(first->offset, second->offset);
      low.push_back(first->offset);
    }
    if (!high.empty() && own.one_in(2)) {
      ASSERT_TRUE(busy.release(high.back()));
      high.pop_back();
    } else {
      high.push_back(busy.allocate(own.below(1000), End::high)->offset);
    }
  }
}

TEST(SegmentHeap, NeverGivesAByteTwice) {
  test::Random random(test::seed());
  SegmentHeap heap(64 << 10, alignment);
  std::map<std::size_t, std::size_t> blocks;  // offset -> bytes
  for (int i = 0; i < 20'000; ++i) {
    if (!blocks.empty() && random.one_in(2)) {
      const auto chosen = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random.below(blocks.size())));
      ASSERT_TRUE(heap.release(chosen->first));
      blocks.erase(chosen);
      continue;
    }
    const std::size_t bytes = 1 + random.below(4000);
    const auto block = heap.allocate(bytes, random.one_in(2) ? End::low : End::high);
    if (!block) continue;
    ASSERT_LE(block->offset + bytes, std::size_t{64} << 10);
    const auto next = blocks.lower_bound(block->offset);
    if (next != blocks.end()) {
      ASSERT_LE(block->offset + bytes, next->first);
    }
    if (next != blocks.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block->offset);
    }
    blocks.emplace(block->offset, bytes);
  }
  for (const auto& [offset, bytes] : blocks) ASSERT_TRUE(heap.release(offset));
  EXPECT_EQ(heap.largest_free(End::low), std::size_t{64} << 10) << "all of it, in one piece";
}

}  // namespace am::core::segment_heap_test
