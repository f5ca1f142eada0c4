// Which way a program joins, from what its environment says, and that one process has each place.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/job/local_socket.hpp"
#include "core/job/place.hpp"
#include "core/job/ways.hpp"
#include "process/pmix_leaks.hpp"
#include "support/check.hpp"

namespace am::core::join_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

Job join(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return join_job(read_settings(environment.data()), read_launcher_environment(environment.data()));
}

std::string error_of(const std::vector<const char*>& environment) {
  return test::error_of([&] { (void)join(environment); });
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

// -- the job that amrun started, with a segment made here -------------------------------------------------------------------------

class AmrunJob : public ::testing::Test {
 protected:
  void TearDown() override { prctl(PR_SET_PDEATHSIG, 0); }

  /// As amrun would set it; the descriptor is a duplicate, which the joined segment owns.
  [[nodiscard]] Settings settings(int rank) const {
    Settings settings;
    settings.rank = rank;
    settings.size = 3;
    settings.memory_fd = dup(memory_->fd());
    return settings;
  }

  static std::string error_of(const Settings& settings) {
    return test::error_of([&] { (void)join_amrun(settings); });
  }

  std::shared_ptr<host::Memory> memory_ = host::Memory::create(3);
};

TEST_F(AmrunJob, IsJoined) {
  memory_->board().job().joined.store(41);
  const Job job = join_amrun(settings(2));
  EXPECT_EQ(job.id, 2u);
  EXPECT_EQ(job.size, 3u);
  EXPECT_EQ(job.found, "amrun");
  EXPECT_EQ(job.memory->board().job().joined.load(), 41u);
  EXPECT_FALSE(job.leave);
  EXPECT_EQ(fcntl(job.memory->fd(), F_GETFD),
            FD_CLOEXEC);  // programs that the node starts are not in its place
}

TEST_F(AmrunJob, APlaceThatWasTakenBeforeIsAnError) {
  for (const host::Standing standing : {host::Standing::joined, host::Standing::left, host::Standing::dead}) {
    memory_->board().card(1).standing.store(static_cast<std::uint32_t>(standing));
    memory_->board().card(1).pid = 4711;
    EXPECT_THAT(error_of(settings(1)),
                AllOf(HasSubstr("node 1 has run already, as process 4711"), HasSubstr("an amrun for each")));
  }
}

TEST_F(AmrunJob, OfAnotherSizeIsAnError) {
  Settings other = settings(0);
  other.size = 4;
  EXPECT_THAT(error_of(other), AllOf(HasSubstr("AM_SIZE=4"), HasSubstr("job of 3 nodes")));
}

TEST_F(AmrunJob, ASecondProcessInANodesPlaceIsAnError) {
  ASSERT_TRUE(memory_->board().life(1).take());
  memory_->board().card(1).pid = 4711;
  EXPECT_THAT(error_of(settings(1)), HasSubstr("node 1 is running already, as process 4711"));
  EXPECT_EQ(error_of(settings(2)), "no error");
  memory_->board().life(1).give_back();
  EXPECT_EQ(error_of(settings(1)), "no error");
}

TEST_F(AmrunJob, ADeathSignalThatIsSetStays) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  EXPECT_EQ(error_of(settings(0)), "no error");
  int signal = 0;
  prctl(PR_GET_PDEATHSIG, &signal);
  EXPECT_EQ(signal, SIGTERM);
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

}  // namespace am::core::join_test
