// Which way a program joins, from what its environment says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/error.hpp>
#include <string>
#include <vector>

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

TEST(Join, AloneUnderALauncherIsAJobOfOne) {
  EXPECT_EQ(join({"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0"}).found, "alone");
  EXPECT_EQ(
      join({"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0", "PMIX_NAMESPACE=x", "PMIX_RANK=0"}).found,
      "alone");
}

TEST(Join, AnAllocationIsNoClaim) { EXPECT_EQ(join({"SLURM_NTASKS=4", "SLURM_PROCID=0"}).found, "alone"); }

TEST(Join, OneOfSeveralWithoutAWayToJoinIsAnError) {
  const std::vector<std::vector<const char*>> launchers = {
      {"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2"},
      {"PMI_SIZE=4", "PMI_RANK=2"},
      {"SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2"},
  };
  for (const auto& environment : launchers) {
    EXPECT_THAT(error_of(environment), AllOf(HasSubstr(environment[0]),
                                             HasSubstr("started 4 processes together and this as number 2"),
                                             HasSubstr("amrun -n 4"), HasSubstr("PMIx")));
  }
}

TEST(Join, APmixServerThatIsGoneIsAnErrorThatNamesTheClaim) {
  EXPECT_THAT(
      error_of({"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2", "PMIX_NAMESPACE=x", "PMIX_RANK=2"}),
      AllOf(HasSubstr("OMPI_COMM_WORLD_SIZE=4"), HasSubstr("PMIx")));
  EXPECT_THAT(error_of({"PMIX_NAMESPACE=x", "PMIX_RANK=2"}), HasSubstr("PMIx"));
}

TEST(Join, HalfOfWhatAmrunSetsIsAnError) {
  EXPECT_THAT(error_of({"AM_RANK=1", "AM_SIZE=4"}), HasSubstr("AM_HOST_MEMORY_FD is not"));
  EXPECT_THAT(error_of({"AM_HOST_MEMORY_FD=3"}), HasSubstr("AM_RANK and AM_SIZE are not"));
}

TEST(Join, AmrunComesBeforeOtherLaunchers) {
  EXPECT_THAT(error_of({"AM_RANK=1", "AM_SIZE=4", "AM_HOST_MEMORY_FD=999", "OMPI_COMM_WORLD_SIZE=4",
                        "OMPI_COMM_WORLD_RANK=2"}),
              HasSubstr("AM_HOST_MEMORY_FD=999"));
}

}  // namespace join_test
}  // namespace am::core
