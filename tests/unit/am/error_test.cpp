#include <gtest/gtest.h>

#include <am/error.hpp>

namespace error_test {

TEST(Error, ReadsAsOneLine) {
  const am::Error error("segment", "node 3 on host b", "no memory", "smaller AM_SEGMENT");
  EXPECT_STREQ(error.what(), "am: segment at node 3 on host b: no memory (smaller AM_SEGMENT)");
  EXPECT_EQ(error.what_failed(), "segment");
  EXPECT_EQ(error.where(), "node 3 on host b");
  EXPECT_EQ(error.why(), "no memory");
  EXPECT_EQ(error.remedy(), "smaller AM_SEGMENT");
  EXPECT_STREQ(am::Error("join", "refused", "").what(), "am: join: refused") << "no place, no remedy";
}

TEST(Error, IsCaughtAsARuntimeErrorAndSurvivesCopying) {
  try {
    const am::Error original("join", "refused", "try again");
    throw am::Error(original);
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "am: join: refused (try again)");
  }
}

}  // namespace error_test
