// Which way a program joins, from what its environment says, and that one process has each place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <string>
#include <vector>

#include "core/job/place.hpp"
#include "core/job/ways.hpp"
#include "process/pmix_leaks.hpp"
#include "support/check.hpp"

namespace am::core {
namespace join_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

Job join(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return join_job(read_settings(environment.data()), read_launcher_environment(environment.data()));
}

std::string error_of(const std::vector<const char*>& environment) {
  return test::error_of([&] { (void)join(environment); });
}

TEST(Join, AloneIsAJobOfOne) {
  const Job job = join({});
  EXPECT_EQ(job.id, 0u);
  EXPECT_EQ(job.size, 1u);
  EXPECT_EQ(job.found, "alone");
  EXPECT_TRUE(job.processes);
  ASSERT_TRUE(job.memory);
  EXPECT_EQ(job.memory->nodes(), 1u);
}

TEST(Join, ALauncherOfOneOrAnAllocationClaimsNothing) {
  for (const auto& environment : std::vector<std::vector<const char*>>{
           {"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0"},
           {"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0", "PMIX_NAMESPACE=x", "PMIX_RANK=0"},
           {"SLURM_NTASKS=4", "SLURM_PROCID=0"}})
    EXPECT_EQ(join(environment).found, "alone");
}

TEST(Join, APmixServerThatIsGoneIsAnErrorThatNamesTheClaim) {
  EXPECT_THAT(
      error_of({"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2", "PMIX_NAMESPACE=x", "PMIX_RANK=2"}),
      AllOf(HasSubstr("OMPI_COMM_WORLD_SIZE=4"), HasSubstr("PMIx")));
  EXPECT_THAT(error_of({"PMIX_NAMESPACE=x", "PMIX_RANK=2"}), HasSubstr("PMIx"));
}

TEST(Join, AmrunComesBeforeOtherLaunchers) {
  EXPECT_THAT(error_of({"AM_HOST_MEMORY_FD=3"}), HasSubstr("AM_RANK and AM_SIZE are not"));
  EXPECT_THAT(error_of({"AM_RANK=1", "AM_SIZE=4", "AM_HOST_MEMORY_FD=999", "OMPI_COMM_WORLD_SIZE=4",
                        "OMPI_COMM_WORLD_RANK=2"}),
              HasSubstr("AM_HOST_MEMORY_FD=999"));
}

// -- one process per node, where there is no shared memory yet to tell --------------------------------------------------------

std::string job_of_this_test() { return "test " + std::to_string(getpid()); }

TEST(Place, IsGivenToOne) {
  const Descriptor claim = claim_place(job_of_this_test(), 3);
  ASSERT_TRUE(claim);
  const auto second = [] {
    return test::error_of([] { static_cast<void>(claim_place(job_of_this_test(), 3)); });
  };
  EXPECT_THAT(second(), HasSubstr("process " + std::to_string(getpid())));
  for (int i = 0; i < 20; ++i) {  // however many come and look
    EXPECT_THAT(second(), HasSubstr("is node 3 of this job already"));
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

}  // namespace join_test
}  // namespace am::core
