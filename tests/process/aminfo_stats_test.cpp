// aminfo --stats: the counters of a running job, read from outside.

#include "process/command.hpp"
#include "process/surroundings.hpp"

namespace aminfo_stats_test {

using process_test::expect_end;
using process_test::Outcome;
using namespace testing;

Outcome aminfo(const std::string& pid) { return process_test::run({AM_BIN_DIR "/aminfo", "--stats", pid}); }

void counted_by_aminfo(am::Request& request, std::uint64_t) { ++request.state<int>(); }

[[noreturn]] void stay() {
  std::puts("there");
  std::fflush(stdout);
  for (;;) pause();
}
const process_test::Role send_seven_each_way("send_seven_each_way", [] {
  am::run_threads(2, [](am::Node& node) {
    int received = 0;
    node.attach(received);
    for (int i = 0; i < 7; ++i) static_cast<void>(node.request<counted_by_aminfo>(1 - node.id(), 1u));
    node.wait_until([&] { return received == 7; });
    node.barrier();
    if (node.id() == 0) stay();
    for (;;) pause();
  });
});
const process_test::Role do_nothing("do_nothing", [] { stay(); });

/// A process that does something and then stays until it is killed.
class Resident {
 public:
  explicit Resident(const std::string& role, const std::vector<std::string>& environment = {})
      : process_({process_test::this_program(), "--node", role}, {environment}) {
    EXPECT_TRUE(process_.says("there"));
  }
  [[nodiscard]] std::string pid() const { return std::to_string(process_.pid()); }

 private:
  process_test::Running process_;
};

TEST(AminfoStats, ShowsEveryNodeOfAJobThatRuns) {
  const Resident job("send_seven_each_way");
  const Outcome shown = aminfo(job.pid());
  expect_end(shown, 0, "",
             AllOf(HasSubstr("am: node 0 of 2: runs, process " + job.pid() + "\n"),
                   HasSubstr("am: node 1 of 2: runs, process " + job.pid() + "\n"),
                   ContainsRegex("1 +low +7 +56 +0 +7 +56\n"), Not(HasSubstr("router"))));
  EXPECT_EQ(process_test::count(shown.out, "counted_by_aminfo"), 2);
  EXPECT_EQ(aminfo(job.pid()).out, shown.out) << "looking changes nothing";
}

TEST(AminfoStats, ShowsTheRoutersOfAnEmulatedNetwork) {
  const Resident job("send_seven_each_way", {"AM_TRANSPORT=t1:1x2"});
  const Outcome shown = expect_end(aminfo(job.pid()), 0);
  for (const char* const node : {"0", "1"}) {
    EXPECT_THAT(shown.out, HasSubstr("its T1 router, at row 0, column " + std::string(node) + " of 1x2\n"));
    EXPECT_THAT(shown.out, ContainsRegex("  node " + std::string(node) + " +low +[01] +7 +0\n"));
  }
  EXPECT_THAT(shown.out, ContainsRegex("  in the whole network +14 sent, 1.00 links each\n"));
}

TEST(AminfoStats, SaysThatAProcessIsInNoJob) {
  const Resident other("do_nothing");
  expect_end(aminfo(other.pid()), 1,
             StartsWith("aminfo: cannot look into process " + other.pid() +
                        ": it belongs to no libam job (name a node"),
             "");
}

TEST(AminfoStats, SaysThatThereIsNoSuchProcess) {
  const std::string gone = Resident("do_nothing").pid();
  expect_end(aminfo(gone), 1,
             StartsWith("aminfo: cannot look into process " + gone + ": there is no such process ("));
}

TEST(AminfoStats, SaysThatItMayNotLook) {
  if (geteuid() != 0) GTEST_SKIP() << "needs another user's process: run as root";
  expect_end(
      process_test::run({AM_BIN_DIR "/aminfo", "--stats", "1"}, {.in_child = process_test::become_nobody}), 1,
      HasSubstr("not permitted"));
}

TEST(AminfoStats, TakesOneProcessNumber) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{}, {"0"}, {"-1"}, {"x"}, {""}, {"1x"}, {"1", "2"}}) {
    std::vector<std::string> command = {AM_BIN_DIR "/aminfo", "--stats"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    expect_end(process_test::run(command), 2, HasSubstr("--stats takes the number of a process"),
               Not(HasSubstr("node")));
  }
}

}  // namespace aminfo_stats_test
