// The watchdog names the node that hangs, the handler that loops or crashes, and what the others do meanwhile: from amrun,
// from a thread of a node, and on a signal. This program is also the program of its jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <am/am.hpp>

#include <cstdlib>
#include <string>

#include "process/amrun_job.hpp"

namespace {

using amrun_test::Amrun;
using amrun_test::Arguments;
using amrun_test::job;
using testing::HasSubstr;

// -- what nodes do ------------------------------------------------------------------------------------------------------

[[noreturn]] void for_ever() {
  for (;;) sched_yield();
}

void loops_for_ever(am::Request&, int) { for_ever(); }
void answers_for_ever(am::Reply&) { for_ever(); }
void crashes(am::Request&, int) { std::abort(); }
void harmless(am::Request&, int) {}

/// Node 0 sends node 1 fifty harmless requests, then the one that is named, then three more.
int meet(const Arguments& arguments) {
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  const std::string& what = arguments.at(0);
  if (node.id() == 0) {
    for (int i = 0; i < 50; ++i) node.request<harmless>(1, i);
    if (what == "loop") node.request<loops_for_ever>(1, 7);
    if (what == "loop_high") node.reply_to<answers_for_ever>(1);
    if (what == "crash") node.request<crashes>(1, 7);
    while (what == "compute" &&
           node.try_request<harmless>(1, 0) == am::Status::ok) {  // until it takes no more
    }
    for (int i = 0; i < 3; ++i) node.request<harmless>(1, i);
  }
  if (what == "compute" && node.id() == 1) {
    amrun_test::Node::print("computes");
    for_ever();
  }
  node.barrier();
  node.barrier();
  return 0;
}

/// Says its pid, and waits for nothing that comes.
int wait_in_vain(const Arguments&) {
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  amrun_test::Node::print("pid " + std::to_string(getpid()));
  node.wait_until([] { return false; });
  return 0;
}

// -- the tests ------------------------------------------------------------------------------------------------------------

class Watchdog : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("AM_DISPATCH", GetParam(), 1); }  // NOLINT(concurrency-mt-unsafe)
  void TearDown() override { unsetenv("AM_DISPATCH"); }            // NOLINT(concurrency-mt-unsafe)
};

TEST_P(Watchdog, OfAmrunNamesALowHandlerThatLoops) {
  Amrun amrun(job({"-n", "3", "--watchdog=200ms"}, {"meet", "loop"}));
  EXPECT_TRUE(amrun.complains("it runs handler {anonymous}::loops_for_ever, for a message from node 0"))
      << amrun.err();
  EXPECT_TRUE(
      amrun.complains("last events: low {anonymous}::loops_for_ever from 0 (8 bytes); 31 x low "
                      "{anonymous}::harmless from 0 (8 bytes)"));
  EXPECT_TRUE(amrun.complains("in barrier")) << "what the others wait for: " << amrun.err();
  EXPECT_TRUE(amrun.complains("from node 0: low ")) << "what waits for it: " << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

TEST_P(Watchdog, OfAmrunNamesAHighHandlerThatLoops) {
  Amrun amrun(job({"-n", "2", "--watchdog=200ms"}, {"meet", "loop_high"}));
  EXPECT_TRUE(amrun.complains("it runs handler {anonymous}::answers_for_ever, for a message from node 0"))
      << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

TEST_P(Watchdog, OfAmrunNamesTheHandlerOfANodeThatCrashed) {
  Amrun amrun(job({"-n", "2", "--watchdog=10s"}, {"meet", "crash"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(), HasSubstr("node 1 (pid "));
  EXPECT_THAT(amrun.err(), HasSubstr("it ran handler {anonymous}::crashes, for a message from node 0"));
}

TEST_P(Watchdog, OfANodeSpeaksForTheWholeJob) {
  setenv("AM_WATCHDOG", "200ms", 1);  // NOLINT(concurrency-mt-unsafe)
  Amrun amrun(job({"-n", "3"}, {"meet", "loop"}));
  unsetenv("AM_WATCHDOG");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(amrun.complains("it runs handler {anonymous}::loops_for_ever, for a message from node 0"))
      << amrun.err();
  EXPECT_TRUE(amrun.complains("node 2 (pid ")) << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

INSTANTIATE_TEST_SUITE_P(Mode, Watchdog, testing::Values("poll", "thread", "interrupt"));

// Nothing runs it, and messages wait for it: in the polling mode only.
TEST(WatchdogOfAmrun, NamesANodeThatComputesWhileMessagesWait) {
  Amrun amrun(job({"-n", "2", "--watchdog=200ms"}, {"meet", "compute"}));
  ASSERT_TRUE(amrun.prints("computes"));
  EXPECT_TRUE(amrun.complains("node 1 has not got on for")) << amrun.err();
  EXPECT_TRUE(amrun.complains("the first for {anonymous}::harmless")) << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

TEST(WatchdogOfAmrun, SaysNothingOfAJobThatGetsOn) {
  Amrun amrun(job({"-n", "2", "--watchdog=10s"}, {"meet", "nothing"}));
  EXPECT_EQ(amrun.exit_code(), 0);
  EXPECT_EQ(amrun.err(), "");
}

TEST(WatchdogOfANode, ReportsOnASignal) {
  setenv("AM_WATCHDOG_SIGNAL", "RTMIN+4", 1);  // NOLINT(concurrency-mt-unsafe)
  Amrun amrun(job({"-n", "2"}, {"wait_in_vain"}));
  unsetenv("AM_WATCHDOG_SIGNAL");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(amrun.prints("pid ", 2));
  const pid_t node = amrun_test::pids_in(amrun.out()).at(0);
  for (int times = 1; times <= 2; ++times) {
    kill(node, SIGRTMIN + 4);
    EXPECT_TRUE(amrun.complains("was asked by signal RTMIN+4", times)) << amrun.err();
    EXPECT_TRUE(amrun.complains("am:   node 1 (pid ", times)) << amrun.err();
  }
  amrun.signal(SIGTERM);
  amrun.status();
}

}  // namespace

int main(int argc, char** argv) {
  return amrun_test::run(argc, argv, {{"meet", meet}, {"wait_in_vain", wait_in_vain}});
}
