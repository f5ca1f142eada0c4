// Segments' numbers: every one leads to its segment, and to none when that is closed. Against a model that keeps a list.
#include "models/cmam/segments.hpp"

#include <gtest/gtest.h>

#include "models/cmam/rports.hpp"
#include "support/random.hpp"

namespace am::models::cmam::segments_test {

TEST(Segments, NumbersLeadToTheirSegmentsAlone) {
  test::Random random(test::seed());
  Segments segments;
  for (const std::int64_t nobodys : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40})
    EXPECT_EQ(segments.find(nobodys), nullptr) << nobodys;
  struct Known {
    int number;
    int bytes;
    char* base;
  };
  std::vector<Known> open;
  for (int step = 0; step < 20000; ++step) {
    if (!open.empty() && (random.one_in(3) || open.size() == Segments::most)) {
      const std::size_t which = random.below(open.size());
      Segment* const found = segments.find(open[which].number);
      ASSERT_NE(found, nullptr);
      segments.close(*found);
      EXPECT_EQ(segments.find(open[which].number), nullptr) << "closed";
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const int bytes = static_cast<int>(random.below(std::uint64_t{1} << random.below(26)));
      char* const base = reinterpret_cast<char*>(static_cast<std::uintptr_t>(step + 1));  // only told apart
      const int number = segments.open(base, bytes, nullptr, nullptr);
      if (number < 0) continue;  // no room
      EXPECT_EQ(number % 64, 0);
      open.push_back({number, bytes, base});
    }
    if (open.empty()) continue;
    const Known& known = open[random.below(open.size())];
    const int offset = static_cast<int>(random.below(static_cast<std::uint64_t>(known.bytes) + 1));
    Segment* const found = segments.find(std::int64_t{known.number} + offset);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(static_cast<void*>(found->base), known.base);
    EXPECT_EQ(found->number, known.number);
    Segment* const behind = segments.find(std::int64_t{known.number} + known.bytes + 1);
    if (behind != nullptr) {
      EXPECT_NE(behind->number, known.number);
    }
  }
}

TEST(Rports, TakeWhatTheyAwaitAndNoMore) {
  char memory[100] = {};
  Rport port{
      .allocated = true, .buffer = reinterpret_cast<std::byte*>(memory), .awaited = 50, .total_bytes = 60};
  EXPECT_TRUE(port.takes(0, 50));
  EXPECT_TRUE(port.takes(10, 50));
  EXPECT_FALSE(port.takes(11, 50));
  EXPECT_FALSE(port.takes(0, 51));
  EXPECT_FALSE(port.takes(-1, 1));
  EXPECT_FALSE(port.takes(std::int64_t{1} << 60, 1));
  port.total_bytes = 0;
  EXPECT_TRUE(port.takes(50, 50)) << "how large the buffer is was not said";
  port.element_bytes = 10;
  port.element_count = 5;
  EXPECT_TRUE(port.takes(0, 50));
  EXPECT_FALSE(port.takes(1, 50)) << "the elements say it";
  port.buffer = nullptr;
  EXPECT_FALSE(port.takes(0, 1));
}

}  // namespace am::models::cmam::segments_test
