#include "core/settings/setting_value.hpp"

#include <gtest/gtest.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <iostream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "host/layout.hpp"

namespace am::core {
namespace setting_value_test {

using namespace std::string_view_literals;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib, tib = 1024 * gib;

TEST(ParseInteger, TakesWholeNumbers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("2147483647"), std::numeric_limits<int>::max());
  EXPECT_EQ(parse_integer("-2147483648"), std::numeric_limits<int>::min());
}

TEST(ParseInteger, RefusesEverythingElse) {
  for (const auto text : {""sv, " 1"sv, "1 "sv, "+1"sv, "1.5"sv, "0x10"sv, "1e3"sv, "--1"sv, "-"sv, "one"sv,
                          "1\n"sv, "1\0"sv, "2147483648"sv, "-2147483649"sv, "99999999999999999999"sv}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << in_quotes(text);
  }
}

TEST(ParseSize, TakesBytesAndPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("4096B"), 4096U);
  EXPECT_EQ(parse_size("1KiB"), kib);
  EXPECT_EQ(parse_size("64MiB"), 64 * mib);
  EXPECT_EQ(parse_size("64mib"), 64 * mib);
  EXPECT_EQ(parse_size("64M"), 64 * mib);
  EXPECT_EQ(parse_size("3g"), 3 * gib);
  EXPECT_EQ(parse_size("1t"), tib);
}

TEST(ParseSize, EndsAtTheLargestSize) {
  EXPECT_EQ(parse_size("1099511627776"), max_size_bytes);
  EXPECT_EQ(parse_size("1TiB"), max_size_bytes);
  EXPECT_EQ(parse_size("1073741824K"), max_size_bytes);
  for (const auto text : {"1099511627777"sv, "2TiB"sv, "1025GiB"sv, "1073741825K"sv, "16777216TiB"sv,
                          "18446744073709551615"sv, "18446744073709551616"sv, "18446744073709551615TiB"sv}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

// Otherwise the segment of one node would reach into that of the next.
TEST(ParseSize, AnswersNothingThatDoesNotFitIntoTheRoomOfANode) { EXPECT_LE(max_size_bytes, host::stride); }

TEST(ParseSize, RefusesEverythingElse) {
  for (const auto text :
       {""sv, " 1"sv, "1 "sv, "64 MiB"sv, "64MB"sv, "64Mi"sv, "64MiBs"sv, "MiB"sv, "-1"sv, "-1MiB"sv, "+1"sv,
        "1.5GiB"sv, "1e6"sv, "0x1000"sv, "1PiB"sv, "4096\n"sv, "1K\0"sv}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << in_quotes(text);
  }
}

TEST(FormatSize, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(1), "1B");
  EXPECT_EQ(format_size(1025), "1025B");
  EXPECT_EQ(format_size(64 * mib), "64MiB");
  EXPECT_EQ(format_size(gib + kib), "1048577KiB");
  EXPECT_EQ(format_size(max_size_bytes), "1TiB");
}

TEST(ParseDuration, TakesNumbersWithAUnit) {
  EXPECT_EQ(parse_duration("0"), 0U);
  EXPECT_EQ(parse_duration("0s"), 0U);
  EXPECT_EQ(parse_duration("7ns"), 7U);
  EXPECT_EQ(parse_duration("100us"), 100'000U);
  EXPECT_EQ(parse_duration("500ms"), 500'000'000U);
  EXPECT_EQ(parse_duration("10s"), 10'000'000'000U);
  EXPECT_EQ(parse_duration("2min"), 120'000'000'000U);
  EXPECT_EQ(parse_duration("1h"), 3'600'000'000'000U);
}

TEST(ParseDuration, EndsAtTheLongestDuration) {
  EXPECT_EQ(parse_duration("9223372036854775807ns"), max_duration_ns);
  EXPECT_EQ(parse_duration("9223372036s"), 9'223'372'036'000'000'000U);
  for (const auto text : {"9223372036854775808ns"sv, "9223372037s"sv, "2562048h"sv,
                          "18446744073709551615ns"sv, "18446744073709551616s"sv, "18446744073709551615h"sv}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const auto text :
       {""sv, "10"sv, "00"sv, " 10s"sv, "10s "sv, "10 s"sv, "s"sv, "-1s"sv, "+1s"sv, "1.5s"sv, "1m"sv,
        "10S"sv, "10sec"sv, "1h30min"sv, "10s\n"sv, "10s\0"sv, "inf"sv, "0x1s"sv}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << in_quotes(text);
  }
}

TEST(FormatDuration, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_duration(0), "0");
  EXPECT_EQ(format_duration(1), "1ns");
  EXPECT_EQ(format_duration(1'500'000'000), "1500ms");
  EXPECT_EQ(format_duration(90'000'000'000), "90s");
  EXPECT_EQ(format_duration(600'000'000'000), "10min");
  EXPECT_EQ(format_duration(7'200'000'000'000), "2h");
}

TEST(ParseSignal, TakesNamesAndNumbersOfSignalsThatCanBeHandled) {
  for (const std::string_view text : {"URG", "SIGURG", "urg", "sigUrg", "23"})
    EXPECT_EQ(parse_signal(text), SIGURG) << text;
  EXPECT_EQ(parse_signal("RTMIN+0"), SIGRTMIN);
  EXPECT_EQ(parse_signal("SIGRTMIN+5"), SIGRTMIN + 5);
  for (const std::string_view text : {"IO", "sigio", "POLL"}) EXPECT_EQ(parse_signal(text), SIGIO) << text;
  for (const std::string_view text :
       {"", "SIG", "KILL", "9", "STOP", "0", "-1", "65", "33", "RTMIN+99", "RTMIN+-1", "NOTHING", "URGE"})
    EXPECT_EQ(parse_signal(text), std::nullopt) << text;
}

TEST(FormatSignal, GivesWhatIsParsedBack) {
  EXPECT_EQ(format_signal(SIGURG), "URG");
  EXPECT_EQ(format_signal(SIGRTMIN + 5), "RTMIN+5");
  EXPECT_EQ(format_signal(SIGIO), "IO");
  EXPECT_EQ(format_signal(0), "");
}

TEST(ParseSwitch, TakesFourWordsEach) {
  for (const auto text : {"1", "true", "yes", "on", "TRUE", "Yes", "oN"})
    EXPECT_EQ(parse_switch(text), true) << text;
  for (const auto text : {"0", "false", "no", "off", "FALSE", "No", "oFF"})
    EXPECT_EQ(parse_switch(text), false) << text;
  for (const auto text :
       {""sv, "2"sv, "01"sv, "y"sv, "yess"sv, " on"sv, "on "sv, "-1"sv, "enable"sv, "on\0"sv}) {
    EXPECT_EQ(parse_switch(text), std::nullopt) << in_quotes(text);
  }
}

TEST(EditDistance, CountsInsertionsRemovalsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("AM_TIMEOUT", "AM_TIMEOUT"), 0U);
  EXPECT_EQ(edit_distance("AM_TIMOUT", "AM_TIMEOUT"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

TEST(InQuotes, ShowsWhatDoesNotPrintAndCutsWhatIsLong) {
  EXPECT_EQ(in_quotes("10s"), "\"10s\"");
  EXPECT_EQ(in_quotes("10s \n"), "\"10s \\x0a\"");
  EXPECT_EQ(in_quotes("\x1b[2J\xff"), "\"\\x1b[2J\\xff\"");
  EXPECT_EQ(in_quotes("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "\"" + std::string(80, 'a') + "...\"");
}

// Any bytes, and bytes that resemble what the parsers take.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_(seed) {}

  std::string next() {
    constexpr std::string_view alphabet = "0123456789999kKmMgGtTiIbBunsmhin+-. 0xeE";
    std::string text;
    const std::size_t length = below(24);
    const bool any_byte = below(4) == 0;
    for (std::size_t i = 0; i < length; ++i) {
      text += any_byte ? static_cast<char>(below(256)) : alphabet[below(alphabet.size())];
    }
    if (below(2) == 0) text = std::to_string(random_() >> below(64)) + units[below(units.size())];
    if (below(8) == 0 && !text.empty()) text[below(text.size())] = static_cast<char>(below(256));
    return text;
  }

  std::uint64_t number(std::uint64_t most) { return (random_() >> below(64)) % (most + 1); }

 private:
  static constexpr std::array<const char*, 14> units = {"",  "B", "K",  "KiB", "m",  "MiB", "GiB",
                                                        "T", "s", "ms", "us",  "ns", "min", "h"};
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::mt19937_64 random_;
};

// --gtest_random_seed=N repeats a run.
std::uint32_t seed_of_this_run() {
  const auto given = static_cast<std::uint32_t>(GTEST_FLAG_GET(random_seed));
  const std::uint32_t seed = given != 0 ? given : std::random_device()() % 99999 + 1;
  std::cout << "seed " << seed << "\n";
  return seed;
}

bool starts_and_ends_in_place(const std::string& text) {
  return text.find_first_of(" \t\n+.") == std::string::npos && text.find('\0') == std::string::npos &&
         text[0] != '-';
}

TEST(Parsers, KeepTheirBoundsWhateverTheText) {
  const std::uint32_t seed = seed_of_this_run();
  RandomText texts(seed);
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = texts.next();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + in_quotes(text));
    if (const auto size = parse_size(text)) {
      ASSERT_LE(*size, max_size_bytes);
      ASSERT_TRUE(starts_and_ends_in_place(text));
      ASSERT_EQ(parse_size(format_size(*size)), *size);
    }
    if (const auto duration = parse_duration(text)) {
      ASSERT_LE(*duration, max_duration_ns);
      ASSERT_TRUE(starts_and_ends_in_place(text));
      ASSERT_EQ(parse_duration(format_duration(*duration)), *duration);
    }
    if (const auto integer = parse_integer(text)) {
      ASSERT_EQ(parse_integer(std::to_string(*integer)), *integer);
    }
    if (const auto on = parse_switch(text)) {
      ASSERT_EQ(parse_switch(format_switch(*on)), *on);
    }
    for (const char c : in_quotes(text)) ASSERT_TRUE(c >= 0x20 && c < 0x7f);
    ASSERT_LE(edit_distance(text, "AM_TIMEOUT"), std::max<std::size_t>(text.size(), 10));
  }
}

TEST(Parsers, ReadWhatIsFormatted) {
  const std::uint32_t seed = seed_of_this_run();
  RandomText texts(seed);
  for (int i = 0; i < 100'000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::uint64_t size = texts.number(max_size_bytes);
    ASSERT_EQ(parse_size(format_size(size)), size);
    const std::uint64_t duration = texts.number(max_duration_ns);
    ASSERT_EQ(parse_duration(format_duration(duration)), duration);
  }
}

}  // namespace setting_value_test
}  // namespace am::core
