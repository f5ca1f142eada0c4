// What the end of a node means, and the words for it.
#include "amrun/ending.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace amrun {
namespace amrun_ending_test {

constexpr int exited(int code) { return code << 8; }  // as waitpid has it
constexpr int killed(int number) { return number; }

TEST(AmrunEnding, OnlyCodeZeroAfterLeavingIsGood) {
  EXPECT_FALSE(has_failed(exited(0), Standing::left));
  EXPECT_TRUE(has_failed(exited(0), Standing::joined));
  EXPECT_TRUE(has_failed(exited(0), Standing::absent));
  EXPECT_TRUE(has_failed(exited(7), Standing::left));
  EXPECT_TRUE(has_failed(killed(SIGKILL), Standing::left));
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

}  // namespace amrun_ending_test
}  // namespace amrun
