// The watchdog names the node that hangs, the handler that loops or crashes, and what the others do meanwhile: from amrun,
// from a thread of a node, and on a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <am/am.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/node/engine.hpp"
#include "process/amrun_job.hpp"

namespace watchdog_test {

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
std::atomic<int> harmless_ones{0};
void harmless(am::Request&, int) { ++harmless_ones; }
void loops_with_stderr(am::Request&, int) {
  flockfile(stderr);
  for_ever();
}

/// Node 0 sends node 1 fifty harmless requests, then the one that is named, then three more.
int meet(const Arguments& arguments) {
  am::Node& node = am::start(0, nullptr);
  const std::string& what = arguments.at(0);
  if (what == "default" && node.id() == 1) {  // before the barrier, in which all that node 0 sends may come
    node.on_default([](am::Incoming&) { for_ever(); });
    node.enable_active_messages(false);
  }
  node.barrier();
  if (node.id() == 0) {
    for (int i = 0; i < 50; ++i) node.request<harmless>(1, i);
    if (what == "loop") node.request<loops_for_ever>(1, 7);
    if (what == "loop_high") node.reply_to<answers_for_ever>(1);
    if (what == "crash") node.request<crashes>(1, 7);
    if (what == "stderr") node.request<loops_with_stderr>(1, 7);
    while (what == "compute" &&
           node.try_request<harmless>(1, 0) == am::Status::ok) {  // until it takes no more
    }
    for (int i = 0; i < 3; ++i) node.request<harmless>(1, i);
  }
  if (what == "compute" && node.id() == 1) {
    amrun_test::Node::print("computes");
    for_ever();
  }
  if (what == "post" && node.id() == 1) node.post([](am::Node&) { for_ever(); });
  if (what == "crash timelet" && node.id() == 1)
    node.on_timelet(node.count(), [](am::LowEvent&) { std::abort(); });
  if (what == "stop" && node.id() == 1) raise(SIGSTOP);
  if (what == "crash alone" && node.id() == 1) {
    node.wait_until([] { return harmless_ones == 50 + 3; });  // then none runs, and none lies in the ring
    std::abort();
  }
  node.barrier();
  node.barrier();
  return 0;
}

/// The same, nodes being threads of this one process.
int meet_as_threads(const Arguments&) {
  am::run_threads(2, [](am::Node& node) {
    node.barrier();
    if (node.id() == 0) node.request<loops_with_stderr>(1, 7);
    node.wait_until([] { return false; });
  });
  return 0;
}

/// For five seconds one request after the other, with pauses.
/// Prints for how many milliseconds it did not get on at most, which is the system's doing.
int get_on(const Arguments&) {
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  am::Count longest = 0;
  am::Count last = node.count();
  const auto look = [&] {
    longest = std::max(longest, node.count() - last);
    last = node.count();
  };
  for (const am::Count end = node.count() + 2'500'000'000; node.count() < end; look()) {
    node.request<harmless>(1 - node.id(), 1);
    const am::Count later = node.count() + 50'000'000;
    node.wait_until([&] { return node.count() > later; });
  }
  node.barrier();
  look();
  amrun_test::Node::print("pause " + std::to_string(longest / 1'000'000));
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

/// A job that hangs says all of this, and is ended.
void expect_complaints(const std::vector<std::string>& command, const std::vector<std::string>& texts) {
  Amrun amrun(command);
  for (const std::string& text : texts) EXPECT_TRUE(amrun.complains(text)) << text << " in:\n" << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

class Watchdog : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("AM_DISPATCH", GetParam(), 1); }  // NOLINT(concurrency-mt-unsafe)
  void TearDown() override { unsetenv("AM_DISPATCH"); }            // NOLINT(concurrency-mt-unsafe)
};

TEST_P(Watchdog, OfAmrunNamesALowHandlerThatLoops) {
  expect_complaints(job({"-n", "3", "--watchdog=200ms"}, {"meet", "loop"}),
                    {"it runs handler watchdog_test::loops_for_ever, for a message from node 0",
                     "last events: low watchdog_test::loops_for_ever from 0 (8 bytes); 31 x low "
                     "watchdog_test::harmless from 0 (8 bytes)",
                     "in barrier",           // what the others wait for
                     "from node 0: low "});  // what waits for it
}

TEST_P(Watchdog, OfAmrunNamesAHighHandlerThatLoops) {
  expect_complaints(job({"-n", "2", "--watchdog=200ms"}, {"meet", "loop_high"}),
                    {"it runs handler watchdog_test::answers_for_ever, for a message from node 0"});
}

TEST_P(Watchdog, OfAmrunNamesTheHandlerOfANodeThatCrashed) {
  Amrun amrun(job({"-n", "2", "--watchdog=10s"}, {"meet", "crash"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(), HasSubstr("node 1 (pid "));
  EXPECT_THAT(amrun.err(), HasSubstr("it ran handler watchdog_test::crashes, for a message from node 0"));
}

// Nobody asked for a watchdog: the node's card says it all the same.
TEST_P(Watchdog, IsNotNeededToNameTheHandlerThatCrashed) {
  Amrun amrun(job({"-n", "2"}, {"meet", "crash"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(),
              HasSubstr("was killed by signal 6 (Aborted); it ran handler watchdog_test::crashes, "
                        "for a message from node 0\n"));
}

TEST_P(Watchdog, IsNotNeededToNameATimeletThatCrashed) {
  Amrun amrun(job({"-n", "2"}, {"meet", "crash timelet"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(), HasSubstr("was killed by signal 6 (Aborted); it ran a timelet\n"));
}

// The last handler has returned.
TEST_P(Watchdog, IsNotSaidToRunAHandlerWhenTheComputationCrashes) {
  Amrun amrun(job({"-n", "2"}, {"meet", "crash alone"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(), HasSubstr("was killed by signal 6 (Aborted)\n"));
}

TEST_P(Watchdog, OfAmrunSaysWhatACrashedNodeRanLast) {
  Amrun amrun(job({"-n", "2", "--watchdog=10s"}, {"meet", "crash alone"}));
  EXPECT_EQ(amrun.exit_code(), 128 + SIGABRT);
  EXPECT_THAT(amrun.err(), HasSubstr("am:   node 1 (pid "));
  EXPECT_THAT(amrun.err(), HasSubstr("is dead\nam:     last events: "));
  EXPECT_THAT(amrun.err(), HasSubstr("low watchdog_test::harmless from 0 (8 bytes)"));
}

TEST_P(Watchdog, OfAmrunNamesPostedWorkThatLoops) {
  expect_complaints(job({"-n", "2", "--watchdog=200ms"}, {"meet", "post"}),
                    {"watchdog: node 1 has not got on for", "runs posted work"});
}

TEST_P(Watchdog, OfAmrunSaysThatANodeIsStopped) {
  expect_complaints(job({"-n", "2", "--watchdog=200ms"}, {"meet", "stop"}), {", stopped) "});
}

TEST_P(Watchdog, NeedsNothingOfStdio) {
  setenv("AM_WATCHDOG", "200ms", 1);  // NOLINT(concurrency-mt-unsafe)
  Amrun amrun(job({"-n", "1"}, {"meet_as_threads"}));
  unsetenv("AM_WATCHDOG");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(amrun.complains("it runs handler watchdog_test::loops_with_stderr, for a message from node 0"))
      << amrun.err();
  amrun.signal(SIGKILL);
  amrun.status();
}

TEST_P(Watchdog, OfANodeSpeaksForTheWholeJob) {
  setenv("AM_WATCHDOG", "200ms", 1);  // NOLINT(concurrency-mt-unsafe)
  Amrun amrun(job({"-n", "3"}, {"meet", "loop"}));
  unsetenv("AM_WATCHDOG");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(amrun.complains("it runs handler watchdog_test::loops_for_ever, for a message from node 0"))
      << amrun.err();
  EXPECT_TRUE(amrun.complains("node 2 (pid ")) << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

INSTANTIATE_TEST_SUITE_P(Mode, Watchdog, testing::Values("poll", "thread", "interrupt"));

TEST(WatchdogOfAmrun, NamesADefaultHandlerThatLoops) {
  expect_complaints(job({"-n", "2", "--watchdog=200ms"}, {"meet", "default"}),
                    {"runs the default handler, for a message from node 0"});
}

// Nothing runs it, and messages wait for it: in the polling mode only.
TEST(WatchdogOfAmrun, NamesANodeThatComputesWhileMessagesWait) {
  Amrun amrun(job({"-n", "2", "--watchdog=200ms"}, {"meet", "compute"}));
  ASSERT_TRUE(amrun.prints("computes"));
  EXPECT_TRUE(amrun.complains("node 1 has not got on for")) << amrun.err();
  EXPECT_TRUE(amrun.complains("while messages wait")) << amrun.err();
  EXPECT_TRUE(amrun.complains("the first for watchdog_test::harmless")) << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

// For longer than the patience, and a little something all the time: unless the system lets a node wait for so long.
TEST(WatchdogOfAmrun, SaysNothingOfAJobThatGetsOn) {
  Amrun amrun(job({"-n", "2", "--watchdog=2s"}, {"get_on"}));
  EXPECT_EQ(amrun.exit_code(), 0);
  std::istringstream out(amrun.out());
  int longest_ms = 0;
  for (std::string word; out >> word;) {
    int pause_ms = 0;
    if (word == "pause" && out >> pause_ms) longest_ms = std::max(longest_ms, pause_ms);
  }
  if (longest_ms < 1000) {
    EXPECT_EQ(amrun.err(), "");
  }
}

TEST(WatchdogOfANode, ReportsOnASignal) {
  setenv("AM_WATCHDOG_SIGNAL", "RTMIN+4", 1);  // NOLINT(concurrency-mt-unsafe)
  Amrun amrun(job({"-n", "2"}, {"wait_in_vain"}));
  unsetenv("AM_WATCHDOG_SIGNAL");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(amrun.prints("pid ", 2));
  const pid_t node = amrun_test::pids_in(amrun.out()).at(0);
  for (int times = 1; times <= 2; ++times) {
    kill(node, SIGRTMIN + 4);
    EXPECT_TRUE(amrun.complains("was asked for a report", times)) << amrun.err();
    EXPECT_TRUE(amrun.complains("am:   node 1 (pid ", times)) << amrun.err();
  }
  amrun.signal(SIGTERM);
  amrun.status();
}

#if !defined(__SANITIZE_THREAD__)  // whose handlers of signals run late

// A signal may come at any time: also when the last node has just left.
TEST(WatchdogOfANode, StaysBehindForALateSignal) {
  setenv("AM_WATCHDOG_SIGNAL", "USR1", 1);  // NOLINT(concurrency-mt-unsafe)
  std::atomic<bool> handled{false};
  std::atomic<bool> over{false};
  std::thread sender([&] {
    while (!handled) sched_yield();
    while (!over) {
      kill(getpid(), SIGUSR1);
      sched_yield();
    }
  });
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {
    am::run_threads(3, [&](am::Node& node) {
      handled = true;
      // The first job stays until it has been asked: the others may be over before the watchdog gets to answer.
      const auto& asked_ns = node.engine().board().job().asked_ns;
      node.wait_until([&] { return i != 0 || asked_ns != 0; });
      node.barrier();
    });
  }
  over = true;
  sender.join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("was asked for a report"));
  unsetenv("AM_WATCHDOG_SIGNAL");  // NOLINT(concurrency-mt-unsafe)
}

#endif

// Each node, so that none waits for another.
TEST(WatchdogOfANode, DoesNotTakeASignalThatTheProgramHandles) {
  setenv("AM_WATCHDOG_SIGNAL", "RTMIN+5", 1);  // NOLINT(concurrency-mt-unsafe)
  struct sigaction own {};
  own.sa_handler = [](int) {};
  sigaction(SIGRTMIN + 5, &own, nullptr);
  for (int i = 0; i < 50; ++i) {
    try {
      am::run_threads(3, [](am::Node&) { FAIL() << "a node started"; });
      FAIL() << "no error";
    } catch (const am::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("the program handles signal RTMIN+5 itself"));
    }
  }
  unsetenv("AM_WATCHDOG_SIGNAL");  // NOLINT(concurrency-mt-unsafe)
}

TEST(WatchdogOfANode, DoesNotTakeTheInterruptModesSignal) {
  setenv("AM_WATCHDOG_SIGNAL", "URG", 1);  // NOLINT(concurrency-mt-unsafe)
  am::Options options;
  options.dispatch = am::Dispatch::interrupt;
  try {
    am::run_threads(
        2, [](am::Node&) { FAIL() << "a node started"; }, options);
    FAIL() << "no error";
  } catch (const am::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("AM_SIGNAL and AM_WATCHDOG_SIGNAL are both URG"));
  }
  unsetenv("AM_WATCHDOG_SIGNAL");  // NOLINT(concurrency-mt-unsafe)
}

const amrun_test::Roles roles = {
    {"meet", meet}, {"meet_as_threads", meet_as_threads}, {"get_on", get_on}, {"wait_in_vain", wait_in_vain}};

}  // namespace watchdog_test
