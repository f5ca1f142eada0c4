#include "emulated_hw/mmachine/gtlb.hpp"

#include <gtest/gtest.h>

#include <set>

#include "emulated_hw/mmachine/job_pages.hpp"
#include "support/random.hpp"

namespace am::mmachine::gtlb_test {

constexpr std::uint64_t address_of(std::uint64_t page, std::uint64_t byte = 0) {
  return page << Gtlb::page_bits | byte;
}

/// Figures 3-5 and 3-6 by hand: a rectangle of four by two nodes with its corner at [2, 5], two pages at a time.
TEST(Gtlb, SpreadsPagesOverARectangle) {
  Gtlb gtlb;
  gtlb.write(2, {.valid = true,
                 .base = {2, 5},
                 .log_width = 2,
                 .log_height = 1,
                 .log_pages = 1,
                 .tag = 0x1000,
                 .mask = ~std::uint64_t{0} << 12});
  const auto node = [&](std::uint64_t page) { return gtlb.translate(address_of(page, 77)); };
  const auto found = [](std::uint8_t x, std::uint8_t y) { return Gtlb::Found{{x, y}, 2}; };
  EXPECT_EQ(node(0x1000), found(2, 5));
  EXPECT_EQ(node(0x1001), found(2, 5)) << "two pages on a node";
  EXPECT_EQ(node(0x1002), found(3, 5));
  EXPECT_EQ(node(0x1007), found(5, 5));
  EXPECT_EQ(node(0x1008), found(2, 6)) << "the next row";
  EXPECT_EQ(node(0x100f), found(5, 6));
  EXPECT_EQ(node(0x1010), found(2, 5)) << "and around";
  EXPECT_EQ(node(0x1fff), found(5, 6));
  EXPECT_EQ(node(0x2000), std::nullopt);
  EXPECT_EQ(node(0x0fff), std::nullopt);
}

TEST(Gtlb, MissesWhatNoValidEntryHolds) {
  Gtlb gtlb;
  EXPECT_EQ(gtlb.translate(0), std::nullopt) << "at first none is valid";
  gtlb.write(1, {.valid = true, .base = {1, 1}, .tag = 3, .mask = 3});
  EXPECT_EQ(gtlb.translate(address_of(7)), (Gtlb::Found{{1, 1}, 1})) << "only the bits of the mask count";
  EXPECT_EQ(gtlb.translate(address_of(6)), std::nullopt);
  gtlb.write(1, {.valid = false, .base = {1, 1}, .tag = 3, .mask = 3});
  EXPECT_EQ(gtlb.translate(address_of(7)), std::nullopt);
}

TEST(Gtlb, TakesTheFirstOfSeveralThatMatch) {
  Gtlb gtlb;
  gtlb.write(3, {.valid = true, .base = {3, 3}});
  EXPECT_EQ(gtlb.translate(0)->entry, 3u);
  gtlb.write(1, {.valid = true, .base = {1, 1}});
  EXPECT_EQ(gtlb.translate(0)->entry, 1u);
}

/// The entire address space can be mapped by a single entry (3.3.1): JobPages. A rectangle over the edge of the mesh goes on at the other one, and no shift is longer than a page's number.
TEST(Gtlb, StaysWithinItsFields) {
  Gtlb gtlb;
  gtlb.write(0, {.valid = true, .base = {31, 31}, .log_width = 1, .log_height = 1});
  EXPECT_EQ(gtlb.translate(address_of(3))->node, (NodePlace{0, 0}));
  gtlb.write(0, {.valid = true, .base = {4, 4}, .log_width = 7, .log_height = 7, .log_pages = 63});
  EXPECT_EQ(gtlb.translate(~std::uint64_t{0})->node, (NodePlace{4, 4})) << "all on one node";
  gtlb.write(5, {.valid = true, .base = {9, 9}});
  EXPECT_EQ(gtlb.read(1).base, (NodePlace{9, 9})) << "the low two bits of the index count";
}

TEST(Gtlb, EntriesAreWordsAndBack) {
  test::Random random(test::seed());
  for (int i = 0; i < 10000; ++i) {
    const Gtlb::Words words{random() & ((std::uint64_t{1} << 53) - 1),
                            random() & ((std::uint64_t{1} << 54) - 1)};
    ASSERT_EQ(Gtlb::words_of(Gtlb::entry_of(words)), words);
  }
  const Gtlb::Entry entry{.valid = true,
                          .base = {3, 7},
                          .log_width = 2,
                          .log_height = 4,
                          .log_pages = 9,
                          .tag = 0x123,
                          .mask = 0x3f};
  const std::uint64_t valid_y_x = 1 << 10 | 7 << 5 | 3;
  const std::uint64_t pages_y_x = 9 << 6 | 4 << 3 | 2;
  EXPECT_EQ(Gtlb::words_of(entry), (Gtlb::Words{valid_y_x << 42 | 0x123, pages_y_x << 42 | 0x3f}))
      << "as the table of IGTRD has it";
}

// A job's pages (3.3.1, Figure 3-6): each address is translated into its node, for meshes of any extents, with four entries at a time; and
// each miss is resolved once.

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

}  // namespace am::mmachine::gtlb_test
