#include "core/settings/setting_value.hpp"

#include <gtest/gtest.h>
#include <csignal>

#include <climits>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "host/layout.hpp"

namespace am::core::setting_value_test {

using namespace std::string_view_literals;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib, tib = 1024 * gib;

template <class Value>
using Parser = std::optional<Value> (*)(std::string_view);
template <class Value>
using Texts = std::initializer_list<std::pair<std::string_view, std::type_identity_t<Value>>>;

template <class Value>
void expect_taken(Parser<Value> parse, Texts<Value> texts) {
  for (const auto& [text, value] : texts) EXPECT_EQ(parse(text), value) << text;
}
template <class Value>
void expect_refused(Parser<Value> parse, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_EQ(parse(text), std::nullopt) << in_quotes(text);
}
template <class Value>
void expect_shown(std::string (*format)(Value), Texts<Value> texts) {
  for (const auto& [text, value] : texts) EXPECT_EQ(format(value), text);
}

TEST(ParseInteger, TakesWholeNumbers) {
  expect_taken(parse_integer, {{"0", 0}, {"-1", -1}, {"007", 7}});
  expect_taken(parse_integer, {{"2147483647", INT_MAX}, {"-2147483648", INT_MIN}});
  expect_refused(parse_integer, {"", " 1", "1 ", "+1", "1.5", "0x10", "1e3", "--1", "-", "one", "1\n",
                                 "1\0"sv, "2147483648", "-2147483649", "99999999999999999999"});
}

TEST(ParseSize, TakesBytesAndPowersOf1024AndFormatShowsTheLargest) {
  expect_taken(parse_size, {{"0", 0}, {"4096", 4096}, {"4096B", 4096}, {"1KiB", kib}, {"3g", 3 * gib}});
  expect_taken(parse_size, {{"64MiB", 64 * mib}, {"64mib", 64 * mib}, {"64M", 64 * mib}, {"1t", tib}});
  expect_refused(parse_size, {"", " 1", "1 ", "64 MiB", "64MB", "64Mi", "64MiBs", "MiB", "-1", "-1MiB", "+1",
                              "1.5GiB", "1e6", "0x1000", "1PiB", "4096\n", "1K\0"sv});
  expect_shown(format_size, {{"0", 0}, {"1B", 1}, {"1025B", 1025}, {"64MiB", 64 * mib}});
  for (const auto text : {"64MB", "64 MiB", "64mb", "64 m"}) EXPECT_EQ(nearest_size(text), "64MiB") << text;
  for (const auto text : {"MB", "64", "64PB", "2TB", ""}) EXPECT_EQ(nearest_size(text), "") << text;
  expect_shown(format_size, {{"1048577KiB", gib + kib}, {"1TiB", max_size_bytes}});
}

TEST(ParseSize, EndsAtTheLargestSize) {
  for (const auto text : {"1099511627776", "1TiB", "1073741824K"})
    EXPECT_EQ(parse_size(text), max_size_bytes) << text;
  expect_refused(parse_size, {"1099511627777", "2TiB", "1025GiB", "1073741825K", "16777216TiB",
                              "18446744073709551615", "18446744073709551616", "18446744073709551615TiB"});
}

// Otherwise the segment of one node would reach into that of the next.
TEST(ParseSize, AnswersNothingThatDoesNotFitIntoTheRoomOfANode) { EXPECT_LE(max_size_bytes, host::stride); }

TEST(ParseDuration, TakesNumbersWithAUnitAndFormatShowsTheLargest) {
  constexpr std::uint64_t s = 1'000'000'000;
  expect_taken(parse_duration, {{"0", 0}, {"0s", 0}, {"7ns", 7}, {"100us", 100'000}, {"500ms", s / 2}});
  expect_taken(parse_duration, {{"10s", 10 * s}, {"2min", 120 * s}, {"1h", 3600 * s}});
  expect_refused(parse_duration, {"", "10", "00", " 10s", "10s ", "10 s", "s", "-1s", "+1s", "1.5s", "1m",
                                  "10S", "10sec", "1h30min", "10s\n", "10s\0"sv, "inf", "0x1s"});
  expect_shown(format_duration, {{"0", 0}, {"1ns", 1}, {"1500ms", 1'500'000'000}});
  expect_shown(format_duration, {{"90s", 90'000'000'000}, {"10min", 600'000'000'000}});
  expect_shown(format_duration, {{"2h", 7'200'000'000'000}});
}

TEST(ParseDuration, EndsAtTheLongestDuration) {
  EXPECT_EQ(parse_duration("9223372036854775807ns"), max_duration_ns);
  EXPECT_EQ(parse_duration("9223372036s"), 9'223'372'036'000'000'000U);
  expect_refused(parse_duration,
                 {"9223372036854775808ns", "9223372037s", "2562048h", "18446744073709551615ns",
                  "18446744073709551616s", "18446744073709551615h"});
}

TEST(ParseSignal, TakesNamesAndNumbersOfSignalsThatCanBeHandled) {
  for (const std::string_view text : {"URG", "SIGURG", "urg", "sigUrg", "23"})
    EXPECT_EQ(parse_signal(text), SIGURG) << text;
  EXPECT_EQ(parse_signal("RTMIN+0"), SIGRTMIN);
  EXPECT_EQ(parse_signal("SIGRTMIN+5"), SIGRTMIN + 5);
  for (const std::string_view text : {"IO", "sigio", "POLL"}) EXPECT_EQ(parse_signal(text), SIGIO) << text;
  expect_refused(parse_signal, {"", "SIG", "KILL", "9", "STOP", "0", "-1", "65", "33", "RTMIN+99", "RTMIN+-1",
                                "NOTHING", "URGE"});
}

TEST(FormatSignal, GivesWhatIsParsedBack) {
  expect_shown(format_signal, {{"URG", SIGURG}, {"RTMIN+5", SIGRTMIN + 5}, {"IO", SIGIO}, {"", 0}});
}

TEST(ParseSwitch, TakesFourWordsEach) {
  for (const auto text : {"1", "true", "yes", "on", "TRUE", "Yes", "oN"})
    EXPECT_EQ(parse_switch(text), true) << text;
  for (const auto text : {"0", "false", "no", "off", "FALSE", "No", "oFF"})
    EXPECT_EQ(parse_switch(text), false) << text;
  expect_refused(parse_switch, {"", "2", "01", "y", "yess", " on", "on ", "-1", "enable", "on\0"sv});
}

TEST(InQuotes, ShowsWhatDoesNotPrintAndCutsWhatIsLong) {
  EXPECT_EQ(in_quotes("10s"), "\"10s\"");
  EXPECT_EQ(in_quotes("10s \n"), "\"10s \\x0a\"");
  EXPECT_EQ(in_quotes("\x1b[2J\xff"), "\"\\x1b[2J\\xff\"");
  EXPECT_EQ(in_quotes("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "\"" + std::string(80, 'a') + "...\"");
}

}  // namespace am::core::setting_value_test
