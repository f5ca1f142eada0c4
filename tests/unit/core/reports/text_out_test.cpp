// Text goes out in whole lines, as many at a time as the buffer holds, and nothing is lost. What several nodes would say alike
// is said once, and again when it is news again.
#include "core/reports/text_out.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "core/reports/once.hpp"
#include "host/memory.hpp"

namespace am::core::text_out_test {

TEST(TextOut, WritesNumbersAndTextAlsoWithoutALinesEnd) {
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

// -- what several nodes would say alike is said once ---------------------------------------------------------------------------

constexpr std::uint64_t for_ever_ns = 3'600'000'000'000;

TEST(SaidOnce, ByTheFirstWhoAsksInAJobUntilItIsNewsAgain) {
  for (int job = 0; job < 2; ++job) {
    const auto memory = host::Memory::create(2);
    EXPECT_TRUE(first_to_say(memory->board(), "a barrier", for_ever_ns));
    EXPECT_FALSE(first_to_say(memory->board(), "a barrier", for_ever_ns));
    EXPECT_TRUE(first_to_say(memory->board(), "another wait", for_ever_ns));
    EXPECT_TRUE(first_to_say(memory->board(), "a barrier", 0));
  }
}

TEST(SaidOnce, ByOneOfManyAtTheSameTime) {
  for (int round = 0; round < 100; ++round) {
    const auto memory = host::Memory::create(4);
    std::atomic<int> ready{0};
    std::atomic<int> said{0};
    std::vector<std::thread> nodes;
    for (int i = 0; i < 4; ++i) {
      nodes.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        if (first_to_say(memory->board(), "round " + std::to_string(round), for_ever_ns)) ++said;
      });
    }
    for (std::thread& node : nodes) node.join();
    EXPECT_EQ(said, 1);
  }
}

}  // namespace am::core::text_out_test
