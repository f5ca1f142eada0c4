// aminfo --stats: the counters of a running job, read from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <am/start.hpp>

#include <csignal>
#include <functional>
#include <string>

#include "process/command.hpp"

namespace aminfo_stats_test {

using process_test::Outcome;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Outcome aminfo(const std::string& pid) { return process_test::run({AM_BIN_DIR "/aminfo", "--stats", pid}); }

/// A process that does something and then stays until it is killed.
class Resident {
 public:
  explicit Resident(const std::function<void(const std::function<void()>& stay)>& body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      body([&] {
        if (write(ends[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
      });
      _exit(1);
    }
    close(ends[1]);
    char there = 0;
    EXPECT_EQ(read(ends[0], &there, 1), 1) << "it did not get so far";
    close(ends[0]);
  }
  ~Resident() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = -1;
};

void counted_by_aminfo(am::Request& request, std::uint64_t) { ++request.state<int>(); }

void send_seven_each_way(const std::function<void()>& stay) {
  am::run_threads(2, [&](am::Node& node) {
    int received = 0;
    node.attach(received);
    for (int i = 0; i < 7; ++i) static_cast<void>(node.request<counted_by_aminfo>(1 - node.id(), 1u));
    node.wait_until([&] { return received == 7; });
    node.barrier();
    if (node.id() == 0) stay();
    for (;;) pause();
  });
}

TEST(AminfoStats, ShowsEveryNodeOfAJobThatRuns) {
  const Resident job(send_seven_each_way);
  const Outcome shown = aminfo(job.pid());
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("am: node 0 of 2: runs, process " + job.pid() + "\n"));
  EXPECT_THAT(shown.out, HasSubstr("am: node 1 of 2: runs, process " + job.pid() + "\n"));
  EXPECT_THAT(shown.out, ContainsRegex("1 +low +7 +56 +0 +7 +56\n"));
  EXPECT_EQ(process_test::count(shown.out, "counted_by_aminfo"), 2);
  EXPECT_THAT(shown.out, Not(HasSubstr("router")));
  EXPECT_EQ(shown.err, "");
  const Outcome again = aminfo(job.pid());
  EXPECT_EQ(again.out, shown.out) << "looking changes nothing";
}

TEST(AminfoStats, ShowsTheRoutersOfAnEmulatedNetwork) {
  const Resident job([](const std::function<void()>& stay) {
    setenv("AM_TRANSPORT", "t1:1x2", 1);  // NOLINT(concurrency-mt-unsafe): a child that has one thread
    send_seven_each_way(stay);
  });
  const Outcome shown = aminfo(job.pid());
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* const node : {"0", "1"}) {
    EXPECT_THAT(shown.out, HasSubstr("its T1 router, at row 0, column " + std::string(node) + " of 1x2\n"));
    EXPECT_THAT(shown.out, ContainsRegex("  node " + std::string(node) + " +low +[01] +7 +0\n"));
  }
  EXPECT_THAT(shown.out, ContainsRegex("  in the whole network +14 sent, 1.00 links each\n"));
}

TEST(AminfoStats, SaysThatAProcessIsInNoJob) {
  const Resident other([](const std::function<void()>& stay) { stay(); });
  const Outcome shown = aminfo(other.pid());
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err, StartsWith("aminfo: cannot look into process " + other.pid() +
                                    ": it belongs to no libam job (name a node"));
  EXPECT_EQ(shown.out, "");
}

TEST(AminfoStats, SaysThatThereIsNoSuchProcess) {
  pid_t gone = 0;
  {
    const Resident other([](const std::function<void()>& stay) { stay(); });
    gone = std::stoi(other.pid());
  }
  const Outcome shown = aminfo(std::to_string(gone));
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err, StartsWith("aminfo: cannot look into process " + std::to_string(gone) +
                                    ": there is no such process ("));
}

TEST(AminfoStats, SaysThatItMayNotLook) {
  if (geteuid() != 0) GTEST_SKIP() << "needs another user's process: run as root";
  const Outcome shown = process_test::run({AM_BIN_DIR "/aminfo", "--stats", "1"},
                                          {.environment = {}, .in_child = [] {
                                             if (setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
                                           }});
  if (shown.exit_code == 127) GTEST_SKIP() << "nobody may not read the build folder";
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.err, HasSubstr("not permitted"));
}

TEST(AminfoStats, TakesOneProcessNumber) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{}, {"0"}, {"-1"}, {"x"}, {""}, {"1x"}, {"1", "2"}}) {
    std::vector<std::string> command = {AM_BIN_DIR "/aminfo", "--stats"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome shown = process_test::run(command);
    EXPECT_EQ(shown.exit_code, 2);
    EXPECT_THAT(shown.err, HasSubstr("--stats takes the number of a process"));
    EXPECT_THAT(shown.out, Not(HasSubstr("node")));
  }
}

}  // namespace aminfo_stats_test
