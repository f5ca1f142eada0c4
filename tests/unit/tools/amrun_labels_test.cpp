// Text in pieces of any size comes out as labelled whole lines.
#include "amrun/labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace amrun {
namespace amrun_labels_test {

std::string fed_in_pieces(std::string_view text, std::size_t piece_bytes, std::size_t longest_line = 100) {
  Labels labels("[7] ", longest_line);
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes)
    labels.feed(text.substr(at, piece_bytes), lines);
  labels.finish(lines);
  return lines;
}

TEST(AmrunLabels, LabelsEachLineHoweverTheTextIsCut) {
  const std::string_view text = "one\n\nthree is longer\n\n";
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes) {
    EXPECT_EQ(fed_in_pieces(text, piece_bytes), "[7] one\n[7] \n[7] three is longer\n[7] \n") << piece_bytes;
  }
}

TEST(AmrunLabels, KeepsABegunLineToItself) {
  Labels labels("[0] ");
  std::string lines;
  labels.feed("one\ntwo", lines);
  EXPECT_EQ(lines, "[0] one\n");
  labels.feed(" more\nthree", lines);
  EXPECT_EQ(lines, "[0] one\n[0] two more\n");
}

TEST(AmrunLabels, EndsALastLineThatHasNoEnd) {
  EXPECT_EQ(fed_in_pieces("one\ntwo", 3), "[7] one\n[7] two\n");
  EXPECT_EQ(fed_in_pieces("", 1), "");
}

TEST(AmrunLabels, CutsLinesThatAreTooLong) {
  const std::string_view text = "0123456789abcdef\nnext\n";
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes) {
    EXPECT_EQ(fed_in_pieces(text, piece_bytes, 10), "[7] 0123456789\n[7] abcdef\n[7] next\n") << piece_bytes;
  }
}

TEST(AmrunLabels, ALineOfTheGreatestLengthStaysWhole) {
  EXPECT_EQ(fed_in_pieces("0123456789\nnext\n", 4, 10), "[7] 0123456789\n[7] next\n");
  EXPECT_EQ(fed_in_pieces("0123456789", 4, 10), "[7] 0123456789\n");
}

TEST(AmrunLabels, CarriesEveryByte) {
  std::string text(3, '\0');
  text += "\xff\r\n";
  std::string expected = "[7] ";
  expected += text;
  EXPECT_EQ(fed_in_pieces(text, 2), expected);
}

TEST(AmrunLabels, MemoryIsBounded) {
  Labels labels("[0] ");
  const std::string text(Labels::longest_line_bytes / 3, 'x');
  std::string lines;
  std::size_t passed = 0;
  for (int i = 0; i < 30; ++i) {
    labels.feed(text, lines);
    passed += static_cast<std::size_t>(std::ranges::count(lines, 'x'));
    lines.clear();
  }
  EXPECT_GE(passed, 30 * text.size() - Labels::longest_line_bytes);
}

}  // namespace amrun_labels_test
}  // namespace amrun
