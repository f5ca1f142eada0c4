// Signals that reach amrun reach its nodes.

#include "process/amrun_job.hpp"

namespace amrun_test::amrun_signals_test {

using namespace testing;

// Names each signal that comes; leaves in good order after SIGTERM, unless it is to stay.
const Role name_signals("name_signals", [](const Arguments& arguments) {
  const Node node;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  node.join();
  Node::print("ready");
  for (;;) {
    int number = 0;
    sigwait(&all, &number);
    Node::print("signal " + std::to_string(number) + ".");
    if (number == SIGTERM && arguments.empty()) break;
  }
  node.leave();
});

TEST(AmrunSignals, ArePassedOn) {
  Amrun amrun(job({"-n", "3"}, {"name_signals"}));
  ASSERT_TRUE(amrun.prints("ready", 3));
  for (const int number : {SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT, SIGINT, SIGCONT}) {
    amrun.signal(number);
    EXPECT_TRUE(amrun.prints("signal " + std::to_string(number) + ".", 3)) << number;
  }
  amrun.signal(SIGTERM);
  EXPECT_EQ(amrun.exit_code(), 0);
  EXPECT_THAT(amrun.err(), IsEmpty());
}

TEST(AmrunSignals, StopAndContinue) {
  Amrun amrun(job({"-n", "2"}, {"name_signals"}));
  ASSERT_TRUE(amrun.prints("ready", 2));
  for (int round = 1; round <= 3; ++round) {
    amrun.signal(SIGTSTP);
    EXPECT_TRUE(amrun.prints("signal " + std::to_string(SIGTSTP) + ".", 2 * round));
    int status = 0;
    ASSERT_EQ(waitpid(amrun.pid(), &status, WUNTRACED), amrun.pid());
    ASSERT_TRUE(WIFSTOPPED(status));
    amrun.signal(SIGCONT);
    EXPECT_TRUE(amrun.prints("signal " + std::to_string(SIGCONT) + ".", 2 * round));
  }
  amrun.signal(SIGTERM);
  EXPECT_EQ(amrun.exit_code(), 0);
}

// The terminal sends it to amrun and to the nodes: amrun must not send it again.
TEST(AmrunSignals, AKeyOfTheTerminalComesOnce) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  Amrun amrun(job({"-n", "2"}, {"name_signals"}), {.in_child = [terminal] {
                setsid();
                dup2(open(ptsname(terminal), O_RDWR), STDIN_FILENO);  // becomes the controlling terminal
              }});
  ASSERT_TRUE(amrun.prints("ready", 2));
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(write(terminal, "\x1c", 1), 1);  // Ctrl-\, SIGQUIT
    EXPECT_TRUE(amrun.prints("signal " + std::to_string(SIGQUIT) + ".", 2 * round));
  }
  amrun.signal(SIGTERM);
  EXPECT_EQ(amrun.exit_code(), 0);
  EXPECT_FALSE(amrun.prints("signal " + std::to_string(SIGQUIT) + ".", 7)) << amrun.out();
  close(terminal);
}

TEST(AmrunSignals, AJobThatEndsByOneSaysSo) {
  for (const char* nodes : {"hang", "survive_and_hang"}) {
    Amrun amrun(job({"-n", "4"}, {nodes}));
    ASSERT_TRUE(amrun.prints("pid ", 4));
    amrun.signal(SIGTERM);
    EXPECT_EQ(amrun.exit_code(), 128 + SIGTERM);
    EXPECT_EQ(amrun.err(), "amrun: the job was ended by signal 15 (Terminated)\n");
  }
}

// Shells stop a loop around a program only when SIGINT has killed it.
TEST(AmrunSignals, AmrunEndsByTheInterruptThatEndedTheJob) {
  Amrun amrun(job({"-n", "2"}, {"hang"}));
  ASSERT_TRUE(amrun.prints("pid ", 2));
  amrun.signal(SIGINT);
  EXPECT_EQ(amrun.status(), SIGINT);
  EXPECT_EQ(amrun.err(), "amrun: the job was ended by signal 2 (Interrupt)\n");
}

TEST(AmrunSignals, ASecondOneKills) {
  for (const int number : {SIGINT, SIGTERM}) {
    Amrun amrun(job({"-n", "3"}, {"name_signals", "stay"}));
    ASSERT_TRUE(amrun.prints("ready", 3));
    amrun.signal(number);
    ASSERT_TRUE(amrun.prints("signal " + std::to_string(number) + ".", 3));
    amrun.signal(number);
    EXPECT_EQ(amrun.exit_code(), 128 + number);
    EXPECT_THAT(amrun.err(), MatchesRegex("amrun: the job was killed after the second signal .*\n"));
  }
}

TEST(AmrunSignals, NodesThatGoOnAfterATerminationAreKilled_night) {
  Amrun amrun(job({"-n", "2"}, {"name_signals", "stay"}));
  ASSERT_TRUE(amrun.prints("ready", 2));
  amrun.signal(SIGTERM);
  EXPECT_EQ(amrun.exit_code(), 128 + SIGTERM);
  EXPECT_EQ(amrun.err(), "amrun: the job was killed 10 s after signal 15 (Terminated)\n");
}

TEST(AmrunSignals, WhatAmrunIgnoresNodesIgnore) {
  Amrun amrun(job({"-n", "2"}, {"hang"}), {.in_child = [] { signal(SIGHUP, SIG_IGN); }});  // nohup
  ASSERT_TRUE(amrun.prints("pid ", 2));
  ASSERT_TRUE(amrun.prints("\n", 2));
  amrun.signal(SIGHUP);
  const pid_t node = pids_in(amrun.out()).at(0);
  kill(node, SIGHUP);
  kill(node, SIGKILL);
  EXPECT_EQ(amrun.exit_code(), 128 + SIGKILL);
  EXPECT_THAT(amrun.err(), MatchesRegex("amrun: node [01] .* was killed by signal 9 \\(Killed\\)\n"));
}

}  // namespace amrun_test::amrun_signals_test
