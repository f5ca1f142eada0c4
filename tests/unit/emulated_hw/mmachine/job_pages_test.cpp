// A job's pages on the M-Machine (3.3.1, Figure 3-6): each address is translated into its node, for meshes of any extents, with four
// entries at a time; and each miss is resolved once.
#include "emulated_hw/mmachine/job_pages.hpp"

#include <gtest/gtest.h>

#include <set>

namespace job_pages_test {

using am::mmachine::Gtlb;
using am::mmachine::JobPages;
using am::mmachine::NodePlace;
using am::mmachine::Translation;

TEST(JobPages, LeadToTheirNodesOnEveryMesh) {
  for (unsigned rows = 1; rows <= 32; ++rows) {
    for (unsigned columns = 1; columns <= 32; ++columns) {
      const JobPages pages(rows, columns);
      Translation translation(pages);
      std::set<std::uint64_t> addresses;
      for (std::uint32_t node = 0; node < rows * columns; ++node) {
        addresses.insert(pages.address_of(node));
        const NodePlace place = translation.place_of(node);
        ASSERT_EQ(place.y * columns + place.x, node) << rows << "x" << columns;
        ASSERT_LT(place.x, columns);
      }
      ASSERT_EQ(addresses.size(), std::size_t{rows} * columns) << "each its own";
      if (pages.entries() <= Gtlb::entries) {
        ASSERT_EQ(translation.misses(), pages.entries()) << rows << "x" << columns;
      }
    }
  }
}

TEST(JobPages, TakeAnEntryForEachRectangleOfPowersOfTwo) {
  EXPECT_EQ(JobPages(1, 1).entries(), 1u);
  EXPECT_EQ(JobPages(4, 8).entries(), 1u);
  EXPECT_EQ(JobPages(32, 32).entries(), 1u);
  EXPECT_EQ(JobPages(3, 3).entries(), 4u);
  EXPECT_EQ(JobPages(7, 7).entries(), 9u);
  EXPECT_EQ(JobPages(31, 31).entries(), 25u);
}

// 7 x 7: nine entries, of which four are there; whoever goes from corner to corner misses each time.
TEST(Translation, MissesAgainWhatWasWrittenOver) {
  const JobPages pages(7, 7);
  Translation translation(pages);
  constexpr std::uint32_t in_each[] = {0, 4, 6, 28, 32, 34, 42, 46, 48};
  for (int i = 0; i < 3; ++i) {
    for (const std::uint32_t node : in_each) EXPECT_EQ(translation.place_of(node).x, node % 7);
  }
  EXPECT_EQ(translation.misses(), 27u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(translation.place_of(48).y, 6);
    EXPECT_EQ(translation.place_of(34).y, 4);
  }
  EXPECT_EQ(translation.misses(), 27u) << "the last four are there";
  EXPECT_EQ(translation.place_of(32).x, 4);
  EXPECT_EQ(translation.misses(), 28u);
}

}  // namespace job_pages_test
