// How jobs of amrun end: exit codes, the line that says which node failed and how, and nothing left behind.

#include "process/amrun_job.hpp"

namespace amrun_test::amrun_ending_test {

using am::host::Standing;
using namespace testing;

const JoinedRole succeed("succeed", [](const Node& node) { node.wait_for_all(); });

// The named node does what it is told once all have joined, the others wait for their end.
const Role fail("fail", [](const Arguments& arguments) {
  const Node node = Node::joined();
  node.wait_for_all();
  if (std::to_string(node.rank()) != arguments.at(0)) Node::hang();
  const std::string& how = arguments.at(1);
  if (how == "signal") {
    signal(std::stoi(arguments.at(2)), SIG_DFL);  // sanitizers have handlers
    raise(std::stoi(arguments.at(2)));
  }
  if (how == "exit") return std::stoi(arguments.at(2));
  if (how == "leave and exit") {
    node.leave();
    return std::stoi(arguments.at(2));
  }
  return 0;  // without leaving
});

const Role never_join("never_join", [](const Arguments& arguments) {
  const Node node;
  if (node.rank() == 0) return std::stoi(arguments.at(0));
  Node::hang();
});

// As a program does, not as a card.
const Role join_and_hang("join_and_hang", [] {
  try {
    am::start(0, nullptr);
  } catch (const am::Error&) {
    return 1;
  }
  Node::hang();
});

const Role ignore_sigterm("ignore_sigterm", [] {
  signal(SIGTERM, SIG_IGN);
  const Node node = Node::joined();
  node.wait_for_all();
  if (node.rank() == 0) return 3;
  Node::hang();
});

// Node 1 dies, the others see it and go on.
const Role survive("survive", [] {
  const Node node;
  node.join(true);
  node.wait_for_all();
  if (node.rank() == 1) raise(SIGKILL);
  while (node.board().job().departures.load() == 0) sched_yield();
  const am::host::NodeCard& dead = node.board().card(1);
  const bool told = dead.standing.load() == static_cast<std::uint32_t>(Standing::dead) &&
                    dead.wait_status.load() == SIGKILL;
  node.leave();
  return told ? 0 : 5;
});

const Role survive_and_hang("survive_and_hang", [] {
  const Node node;
  node.join(true);
  node.wait_for_all();
  Node::hang();
});

// Node 1 leaves with a code, the others see that it has left and succeed.
const Role survive_a_verdict("survive_a_verdict", [](const Arguments& arguments) {
  const Node node;
  node.join(true);
  node.wait_for_all();
  while (node.rank() != 1 &&
         node.board().card(1).standing.load() != static_cast<std::uint32_t>(Standing::left)) {
    sched_yield();
  }
  node.leave();
  return node.rank() == 1 ? std::stoi(arguments.at(0)) : 0;
});

// Leaves a process of its own session behind.
const Role leave_a_daemon("leave_a_daemon", [](const Arguments& arguments) {
  const Node node = Node::joined();
  if (node.rank() == 0 && fork() == 0) {
    setsid();
    if (fork() == 0) Node::hang();
    _exit(0);
  }
  // Node 0 waits for a line of the test, which has seen the daemon, and node 1 for node 0.
  if (node.rank() == 0) (void)std::getchar();
  while (node.rank() != 0 &&
         node.board().card(0).standing.load() < static_cast<std::uint32_t>(Standing::left)) {
    sched_yield();
  }
  node.leave();
  return std::stoi(arguments.at(0));
});

/// With this exit code, and the line that says of one node how it ended.
void expect_job_ends(const std::vector<std::string>& arguments, int exit_code, const std::string& line) {
  SCOPED_TRACE(line);
  expect_end(Amrun(arguments).outcome(), exit_code, MatchesRegex("amrun: node " + line + "\n"));
}

TEST(AmrunEnding, SuccessIsSilent) {
  for (const char* nodes : {"4", "64"}) expect_end(run_job({"-n", nodes}, {"succeed"}), 0, IsEmpty());
}

TEST(AmrunEnding, AnExitCodeOrASignalEndsTheJobAndIsReported) {
  expect_job_ends(job({"-n", "4"}, {"fail", "3", "exit", "7"}), 7,
                  "3 \\(pid [0-9]+, host .+\\) exited with code 7");
  expect_job_ends(job({"-n", "2"}, {"fail", "0", "leave and exit", "8"}), 8,
                  "0 \\(pid [0-9]+, host .+\\) exited with code 8");
  expect_job_ends(job({"-n", "4"}, {"fail", "1", "signal", "11"}), 128 + SIGSEGV,
                  "1 \\(pid [0-9]+, host .+\\) was killed by signal 11 \\(Segmentation fault\\)");
}

TEST(AmrunEnding, SilentExitWithoutLeavingIsAFailure) {
  expect_job_ends(job({"-n", "2"}, {"fail", "1", "return"}), 1,
                  "1 .* exited with code 0 without leaving the job");
}

TEST(AmrunEnding, ProgramsThatKnowNothingOfJobsMayBeRun) {
  expect_end(Amrun({"-n", "2", "echo", "here"}).outcome(), 0,
             MatchesRegex("amrun: nobody joined the job: \"[^\n]*echo\" ended without a call of am::start\n"),
             "here\nhere\n");
}

TEST(AmrunEnding, OneOfManyFailuresIsReported) {
  expect_job_ends(job({"-n", "32"}, {"never_join", "9"}), 9,
                  "0 .* exited with code 9 before it joined the job");
}

TEST(AmrunEnding, AKilledNodeEndsTheJob) {
  Amrun amrun(job({"-n", "8"}, {"hang"}));
  ASSERT_TRUE(amrun.prints("pid ", 8));
  ASSERT_TRUE(amrun.prints("\n", 8));
  const std::vector<pid_t> pids = pids_in(amrun.out());
  kill(pids[5], SIGKILL);
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
  EXPECT_THAT(amrun.err(), MatchesRegex("amrun: node [0-7] \\(pid " + std::to_string(pids[5]) +
                                        ", host .+\\) was killed by signal 9 \\(Killed\\)\n"));
}

TEST(AmrunEnding, KillingAmrunLeavesNoNode) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-n", "16"}, {"-n", "16", "-l"}}) {
    Amrun amrun(job(options, {"hang"}));
    ASSERT_TRUE(amrun.prints("pid ", 16));
    ASSERT_TRUE(amrun.prints("\n", 16));
    std::vector<std::unique_ptr<Watched>> nodes;
    for (const pid_t pid : pids_in(amrun.out())) nodes.push_back(std::make_unique<Watched>(pid));
    amrun.signal(SIGKILL);
    EXPECT_EQ(amrun.status(), SIGKILL);
    for (const auto& node : nodes) EXPECT_TRUE(node->ends());
  }
}

// At any moment of the start: the end of the output says that everybody is gone.
TEST(AmrunEnding, KillingAmrunWhileItStartsLeavesNoNode) {
  for (int nodes_up = 0; nodes_up < 32; ++nodes_up) {
    Amrun amrun(job({"-n", "32"}, {"hang"}));
    if (nodes_up > 0) {
      ASSERT_TRUE(amrun.prints("pid ", nodes_up));
    }
    amrun.signal(SIGKILL);
    EXPECT_EQ(amrun.status(), SIGKILL);
  }
}

// The same where amrun's child is a shell, whose death the node may be too young to notice.
TEST(AmrunEnding, KillingAmrunWhileWrappedNodesStartLeavesNone) {
  const std::string self = this_program();
  constexpr int nodes = 6;
  for (int round = 0; round < 48; ++round) {
    Amrun amrun(
        {"-n", std::to_string(nodes), "sh", "-c", "echo up; " + self + " --node join_and_hang; true"});
    if (const int nodes_up = round % (nodes + 1); nodes_up > 0) {
      ASSERT_TRUE(amrun.prints("up", nodes_up));
    }
    amrun.signal(SIGKILL);
    EXPECT_EQ(amrun.status(), SIGKILL) << "in round " << round;
  }
}

TEST(AmrunEnding, NodesThatIgnoreTheRequestAreKilled) {
  expect_job_ends(job({"-n", "4"}, {"ignore_sigterm"}), 3, "0 .* exited with code 3");
}

TEST(AmrunEnding, StoppedNodesEndToo) {
  Amrun amrun(job({"-n", "2"}, {"hang"}));
  ASSERT_TRUE(amrun.prints("\n", 2));
  const std::vector<pid_t> pids = pids_in(amrun.out());
  kill(pids[0], SIGSTOP);
  kill(pids[1], SIGKILL);
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
}

TEST(AmrunEnding, AJobThatSurvivesGoesOn) {
  expect_job_ends(job({"-n", "4"}, {"survive"}), 0, "1 .* was killed by signal 9 \\(Killed\\)");
}

TEST(AmrunEnding, AJobThatSurvivesIsJudgedByThoseThatLeave) {
  expect_job_ends(job({"-n", "4"}, {"survive_a_verdict", "5"}), 5, "1 .* exited with code 5");
}

TEST(AmrunEnding, AJobThatNobodySurvivesHasFailed) {
  Amrun amrun(job({"-n", "2"}, {"survive_and_hang"}));
  ASSERT_TRUE(amrun.prints("\n", 2));
  for (const pid_t pid : pids_in(amrun.out())) kill(pid, SIGKILL);
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
}

TEST(AmrunEnding, WhatNodesStartedEndsWithThem) {
  for (const int code : {0, 6}) {
    Amrun amrun(job({"-n", "2"}, {"leave_a_daemon", std::to_string(code)}));
    ASSERT_TRUE(amrun.prints("pid ") && amrun.prints("\n"));
    const Watched daemon(pids_in(amrun.out()).at(0));
    amrun.write_input("\n");
    EXPECT_EQ(amrun.exit_code(), code);
    EXPECT_TRUE(daemon.ends());
  }
}

// A shell that replaces itself with amrun hands its children on to it. These live until amrun has ended (its descriptor 3).
TEST(AmrunEnding, ChildrenOfAnEarlierLifeAreLeftAlone) {
  const std::string self = this_program();
  const std::string start = "exec " AM_BIN_DIR "/amrun -n 2 " + self + " --node ";
  const auto shell = [](const std::string& script) { return process_test::run({"bash", "-c", script}); };

  expect_end(shell("exec 3> >(cat; echo background ran on); " + start + "succeed"), 0, "",
             "background ran on\n");
  expect_end(shell(start + "fail 1 exit 7 > >(cat; echo all read)"), 7, _, EndsWith("all read\n"));
  // One that ends while the job runs is not taken for a node, with whatever code.
  expect_end(shell("(exit 9) & " + start + "succeed"), 0, "");
}

// The other children of the job are ended all the same.
TEST(AmrunEnding, WhatNodesStartedEndsBesideChildrenOfAnEarlierLife) {
  const std::string self = this_program();
  // The end of its output, which run() waits for, is the daemon's end.
  expect_end(process_test::run({"bash", "-c",
                                "exec 3> >(cat; echo background ran on); exec " AM_BIN_DIR "/amrun -n 2 " +
                                    self + " --node leave_a_daemon 0"}),
             0, _, HasSubstr("background ran on\n"));
}

TEST(AmrunEnding, ANodeMayBeTheChildOfAShell) {
  const std::string self = this_program();
  expect_end(Amrun({"-n", "2", "sh", "-c", self + " --node succeed; exit $?"}).outcome(), 0, IsEmpty());
  expect_end(Amrun({"-n", "2", "sh", "-c", self + " --node fail 1 signal 9; exit 0"}).outcome(), 1,
             HasSubstr("exited with code 0 without leaving the job"));
}

// Some parents ignore the end of their children, and children inherit that.
TEST(AmrunEnding, ExitCodesAreKnownWhateverAmrunInherits) {
  expect_end(run_job({"-n", "2"}, {"fail", "1", "exit", "7"}, {.in_child = [] { signal(SIGCHLD, SIG_IGN); }}),
             7);
}

}  // namespace amrun_test::amrun_ending_test
