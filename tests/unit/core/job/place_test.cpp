// One process per node, where there is no shared memory yet to tell.
#include "core/job/place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <am/error.hpp>
#include <string>

namespace am::core {
namespace place_test {

std::string job_of_this_test() { return "test " + std::to_string(getpid()); }

TEST(Place, IsGivenToOne) {
  const Descriptor claim = claim_place(job_of_this_test(), 3);
  ASSERT_TRUE(claim);
  for (int i = 0; i < 20; ++i) {  // however many come and look
    try {
      const Descriptor second = claim_place(job_of_this_test(), 3);
      FAIL() << "claimed twice";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("is node 3 of this job already"));
      if (i > 0) continue;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("process " + std::to_string(getpid())));
    }
  }
}

TEST(Place, IsFreeAgainWhenItsHolderIsGone) {
  EXPECT_TRUE(claim_place(job_of_this_test(), 1));
  EXPECT_TRUE(claim_place(job_of_this_test(), 1));
}

TEST(Place, OtherNodesAndOtherJobsHaveTheirOwn) {
  const Descriptor claim = claim_place(job_of_this_test(), 1);
  EXPECT_TRUE(claim_place(job_of_this_test(), 2));
  EXPECT_TRUE(claim_place(job_of_this_test() + "x", 1));
}

}  // namespace place_test
}  // namespace am::core
