// Text goes out in whole lines, as many at a time as the buffer holds, and nothing is lost.
#include "core/reports/text_out.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace am::core {
namespace text_out_test {

TEST(TextOut, WritesNumbersAndText) {
  EXPECT_EQ(text_of([](TextOut& out) { out << "a " << 7u << ", " << -3 << "\n"; }), "a 7, -3\n");
  EXPECT_EQ(text_of([](TextOut& out) { out << std::numeric_limits<std::uint64_t>::max(); }),
            "18446744073709551615");
  EXPECT_EQ(text_of([](TextOut& out) { out << std::numeric_limits<std::int64_t>::min(); }),
            "-9223372036854775808");
}

TEST(TextOut, GivesWholeLinesAndOnlyOneLongLineInParts) {
  std::vector<std::string> pieces;
  std::string expected;
  {
    TextOut out([&](std::string_view piece) { pieces.emplace_back(piece); });
    for (std::size_t length = 1; length < 3000; length += 7) {
      const std::string line = std::string(length, static_cast<char>('a' + length % 26)) + "\n";
      expected += line;
      out << line;
    }
    const std::string longer(3 * TextOut::capacity, 'z');
    out << longer << "\n";
    expected += longer + "\n";
  }
  std::string all;
  std::size_t parts = 0;
  for (const std::string& piece : pieces) {
    all += piece;
    EXPECT_LE(piece.size(), TextOut::capacity);
    parts += piece.back() != '\n';
  }
  EXPECT_EQ(all, expected);
  EXPECT_EQ(parts, 3u);
}

TEST(TextOut, WritesWhatIsLeftAtItsEnd) {
  std::string all;
  {
    TextOut([&](std::string_view piece) { all += piece; }) << "no line end";
  }
  EXPECT_EQ(all, "no line end");
}

}  // namespace text_out_test
}  // namespace am::core
