// What amrun shows of a node: its text, which comes in pieces of any size, as labelled whole lines; and what its end means.
#include <gtest/gtest.h>
#include <signal.h>

#include "amrun/ending.hpp"
#include "amrun/labels.hpp"

namespace amrun::amrun_nodes_test {

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
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes)
    EXPECT_EQ(fed_in_pieces(text, piece_bytes), "[7] one\n[7] \n[7] three is longer\n[7] \n") << piece_bytes;
}

TEST(AmrunLabels, KeepsABegunLineToItself) {
  Labels labels("[0] ");
  std::string lines;
  labels.feed("one\ntwo", lines);
  EXPECT_EQ(lines, "[0] one\n");
  labels.feed(" more\nthree", lines);
  EXPECT_EQ(lines, "[0] one\n[0] two more\n");
}

TEST(AmrunLabels, CutsLinesThatAreTooLong) {
  const std::string_view text = "0123456789abcdef\nnext\n";
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes)
    EXPECT_EQ(fed_in_pieces(text, piece_bytes, 10), "[7] 0123456789\n[7] abcdef\n[7] next\n") << piece_bytes;
}

TEST(AmrunLabels, EndALastLineAndCarryEveryByte) {
  EXPECT_EQ(fed_in_pieces("one\ntwo", 3), "[7] one\n[7] two\n");
  EXPECT_EQ(fed_in_pieces("", 1), "");
  EXPECT_EQ(fed_in_pieces("0123456789\nnext\n", 4, 10), "[7] 0123456789\n[7] next\n") << "just not too long";
  EXPECT_EQ(fed_in_pieces("0123456789", 4, 10), "[7] 0123456789\n");
  using namespace std::string_literals;
  EXPECT_EQ(fed_in_pieces("\0\0\xff\r\n"s, 2), "[7] \0\0\xff\r\n"s);
}

constexpr int exited(int code) { return code << 8; }  // as waitpid has it
constexpr int killed(int number) { return number; }

TEST(AmrunEnding, OnlyCodeZeroAfterLeavingIsGood) {
  EXPECT_FALSE(has_failed(exited(0), Standing::left));
  EXPECT_TRUE(has_failed(exited(0), Standing::joined));
  EXPECT_TRUE(has_failed(exited(0), Standing::absent));
  EXPECT_TRUE(has_failed(exited(7), Standing::left));
  EXPECT_TRUE(has_failed(killed(SIGKILL), Standing::left));
  EXPECT_TRUE(is_stranger(exited(0), Standing::absent)) << "hostname";
  EXPECT_FALSE(is_stranger(exited(7), Standing::absent) || is_stranger(exited(0), Standing::joined) ||
               is_stranger(killed(SIGKILL), Standing::absent));
}

TEST(AmrunEnding, ExitCodesAreThoseOfShells) {
  EXPECT_EQ(exit_code_for(exited(7)), 7);
  EXPECT_EQ(exit_code_for(killed(SIGKILL)), 137);
  EXPECT_EQ(exit_code_for(exited(0)), 1);
}

TEST(AmrunEnding, SaysHow) {
  EXPECT_EQ(how_it_ended(killed(SIGKILL), Standing::joined), "was killed by signal 9 (Killed)");
  EXPECT_EQ(how_it_ended(exited(7), Standing::joined), "exited with code 7");
  EXPECT_EQ(how_it_ended(exited(7), Standing::left), "exited with code 7");
  EXPECT_EQ(how_it_ended(exited(0), Standing::joined), "exited with code 0 without leaving the job");
  EXPECT_EQ(how_it_ended(exited(0), Standing::absent), "exited with code 0 before it joined the job");
  EXPECT_EQ(how_it_ended(exited(7), Standing::absent), "exited with code 7 before it joined the job");
}

}  // namespace amrun::amrun_nodes_test
