// Jobs of Slurm, with srun --mpi=pmix, on two hosts that are namespaces (slurm.sh). Skipped, with the reason, where Slurm is not
// installed, or does not start.

#include "process/every_example.hpp"

namespace process_test::slurm_test {

using testing::HasSubstr;

const std::string script = AM_TESTS_DIR "/process/slurm.sh";

/// Runs as long as it lives.
class Cluster : test::Pinned {
 public:
  Cluster() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));  // as munge demands
    std::string missing;
    for (const char* program :
         {"munged", "slurmctld", "slurmd", "srun", "sinfo", "ip", "unshare", "nsenter"}) {
      if (run({"sh", "-c", std::string("command -v ") + program}).exit_code != 0)
        missing += std::string(" ") + program;
    }
    if (!missing.empty()) {
      problem_ = "there is no" + missing + " here";
      return;
    }
    const Outcome started = run({script, "start", there()}, {{"LIFETIME=280"}});
    runs_ = started.exit_code == 0;
    if (!runs_) problem_ = "Slurm does not start here: " + started.err;
  }
  ~Cluster() {
    if (runs_) run({script, "stop", there()});
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string there() const { return folder_.in("slurm"); }

 private:
  const TemporaryFolder folder_;
  bool runs_ = false;
  std::string problem_;
};

/// One cluster for all: it takes seconds to start.
class Slurm : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<Cluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override {
    if (!cluster_->problem().empty()) GTEST_SKIP() << cluster_->problem();
  }

  [[nodiscard]] static std::string there() { return cluster_->there(); }
  [[nodiscard]] static Outcome srun(const std::vector<std::string>& words,
                                    const std::vector<std::string>& environment = {}) {
    std::vector<std::string> command = {script, "srun", there()};
    command.insert(command.end(), words.begin(), words.end());
    return run(command, {environment});
  }

 private:
  inline static std::unique_ptr<Cluster> cluster_;
};

TEST_F(Slurm, RunsExamplesWithTheResultOfOneHost) {
  // Neighbours together; apart; on one host.
  for (const std::vector<std::string>& placement : {std::vector<std::string>{"-N2", "-n4", "-m", "block"},
                                                    {"-N2", "-n4", "-m", "cyclic"},
                                                    {"-N1", "-n4"}}) {
    expect_the_same(a_few_examples(), [&](const std::vector<std::string>& program) {
      std::vector<std::string> words = placement;
      words.insert(words.end(), program.begin(), program.end());
      return srun(words);
    });
  }
}

TEST_F(Slurm, UsesSharedMemoryWithinAHostAndTcpBetween) {
  const Outcome outcome = expect_end(srun({"-N2", "-n4", example("life")}, {"AM_VERBOSE=1"}), 0, testing::_,
                                     HasSubstr("the same as a sequential run"));
  EXPECT_EQ(count(outcome.err, "found PMIx (namespace slurm.pmix."), 4) << outcome.err;
  EXPECT_EQ(count(outcome.err, "shared memory to 2 nodes, TCP to 2 nodes"), 4) << outcome.err;
}

TEST_F(Slurm, RunsTwoProgramsOneAfterTheOther) {
  const TemporaryFile both(example("hello") + " && " + example("hello"));
  const Outcome outcome = expect_end(srun({"-N2", "-n4", "sh", both.path()}), 0);
  EXPECT_EQ(count(outcome.out, "hears from"), 16) << outcome.out;
}

TEST_F(Slurm, SaysWhatIsMissingWithoutPmix) {
  expect_end(run({script, "srun", there(), "--mpi=none", "-N2", "-n2", example("hello")}), testing::Ne(0),
             HasSubstr("srun --mpi=pmix"));
}

}  // namespace process_test::slurm_test
