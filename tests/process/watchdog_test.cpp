// The watchdog names the node that hangs, the handler that loops or crashes, and what the others do meanwhile: from amrun,
// from a thread of a node, and on a signal.

#include "process/amrun_job.hpp"
#include "support/job.hpp"

namespace watchdog_test {

using amrun_test::Amrun;
using amrun_test::Arguments;
using amrun_test::job;
using testing::HasSubstr;

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
const amrun_test::Role meet("meet", [](am::Node& node, const Arguments& arguments) {
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
  if (what == "compute" && node.id() == 1) for_ever();
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
});

/// The same, nodes being threads of this one process.
const amrun_test::Role meet_as_threads("meet_as_threads", [] {
  am::run_threads(2, [](am::Node& node) {
    node.barrier();
    if (node.id() == 0) node.request<loops_with_stderr>(1, 7);
    node.wait_until([] { return false; });
  });
});

/// For five seconds one request after the other, with pauses.
/// Prints for how many milliseconds it did not get on at most, which is the system's doing.
const amrun_test::Role get_on("get_on", [](am::Node& node) {
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
});

/// Says its pid, and waits for nothing that comes.
const amrun_test::Role wait_in_vain("wait_in_vain", [](am::Node& node) {
  node.barrier();
  amrun_test::Node::print("pid " + std::to_string(getpid()));
  node.wait_until([] { return false; });
});

/// A job that hangs says all of this, and is ended.
void expect_complaints(const std::vector<std::string>& command, const std::vector<std::string>& texts,
                       const std::vector<std::string>& environment = {}) {
  Amrun amrun(command, {environment});
  for (const std::string& text : texts) EXPECT_TRUE(amrun.complains(text)) << text << " in:\n" << amrun.err();
  amrun.signal(SIGTERM);
  amrun.status();
}

class Watchdog : public testing::TestWithParam<const char*> {
 protected:
  /// Of so many nodes, which meet; amrun watches them.
  static void expect_complaints(const char* nodes, const char* what, const std::vector<std::string>& texts) {
    watchdog_test::expect_complaints(job({"-n", nodes, "--watchdog=200ms"}, {"meet", what}), texts, {mode()});
  }
  /// Node 1 of two aborts. amrun's report holds these texts.
  static void expect_crash(std::vector<std::string> options, const char* what,
                           const std::vector<std::string>& texts) {
    options.insert(options.end(), {"-n", "2"});
    const process_test::Outcome amrun =
        process_test::expect_end(amrun_test::run_job(options, {"meet", what}, {{mode()}}), 128 + SIGABRT);
    for (const std::string& text : texts) EXPECT_THAT(amrun.err, HasSubstr(text));
  }
  static std::string mode() { return std::string("AM_DISPATCH=") + GetParam(); }
};

TEST_P(Watchdog, OfAmrunNamesALowHandlerThatLoops) {
  expect_complaints("3", "loop",
                    {"it runs handler watchdog_test::loops_for_ever, for a message from node 0",
                     "last events: low watchdog_test::loops_for_ever from 0 (8 bytes); 31 x low "
                     "watchdog_test::harmless from 0 (8 bytes)",
                     "in barrier",           // what the others wait for
                     "from node 0: low "});  // what waits for it
}

TEST_P(Watchdog, OfAmrunNamesWhatElseLoops) {
  expect_complaints("2", "loop_high",
                    {"it runs handler watchdog_test::answers_for_ever, for a message from node 0"});
  expect_complaints("2", "post", {"watchdog: node 1 has made no progress for", "runs posted work"});
}

// Nobody need ask for a watchdog: the node's card says it.
TEST_P(Watchdog, IsNotNeededToNameWhatCrashed) {
  expect_crash({}, "crash",
               {"was killed by signal 6 (Aborted); it ran handler watchdog_test::crashes, for a message from "
                "node 0\n"});
  expect_crash({"--watchdog=10s"}, "crash",
               {"node 1 (pid ", "it ran handler watchdog_test::crashes, for a message from node 0"});
  expect_crash({}, "crash timelet", {"was killed by signal 6 (Aborted); it ran a timelet\n"});
  expect_crash({}, "crash alone", {"was killed by signal 6 (Aborted)\n"});  // the last handler has returned
}

TEST_P(Watchdog, OfAmrunSaysWhatACrashedNodeRanLast) {
  expect_crash({"--watchdog=10s"}, "crash alone",
               {"am:   node 1 (pid ",
                "is dead\nam:     last events: ", "low watchdog_test::harmless from 0 (8 bytes)"});
}

TEST_P(Watchdog, OfAmrunSaysThatANodeIsStopped) { expect_complaints("2", "stop", {", stopped) "}); }

TEST_P(Watchdog, OfANodeNeedsNothingOfStdio) {
  watchdog_test::expect_complaints(
      job({"-n", "1"}, {"meet_as_threads"}),
      {"it runs handler watchdog_test::loops_with_stderr, for a message from node 0"},
      {mode(), "AM_WATCHDOG=200ms"});
}

TEST_P(Watchdog, OfANodeSpeaksForTheWholeJob) {
  watchdog_test::expect_complaints(
      job({"-n", "3"}, {"meet", "loop"}),
      {"it runs handler watchdog_test::loops_for_ever, for a message from node 0", "node 2 (pid "},
      {mode(), "AM_WATCHDOG=200ms"});
}

INSTANTIATE_TEST_SUITE_P(Mode, Watchdog, testing::Values("poll", "thread", "interrupt"));

TEST(WatchdogOfAmrun, NamesADefaultHandlerThatLoops) {
  expect_complaints(job({"-n", "2", "--watchdog=200ms"}, {"meet", "default"}),
                    {"runs the default handler, for a message from node 0"});
}

// Nothing runs it, and messages wait for it: in the polling mode only.
TEST(WatchdogOfAmrun, NamesANodeThatComputesWhileMessagesWait) {
  expect_complaints(
      job({"-n", "2", "--watchdog=200ms"}, {"meet", "compute"}),
      {"node 1 has made no progress for", "while messages wait", "the first for watchdog_test::harmless"});
}

// For longer than the patience, and a little something all the time: unless the system lets a node wait for so long.
TEST(WatchdogOfAmrun, SaysNothingOfAJobThatGetsOn) {
  const process_test::Outcome amrun =
      process_test::expect_end(amrun_test::run_job({"-n", "2", "--watchdog=2s"}, {"get_on"}), 0);
  int longest_ms = 0;
  for (const std::string& line : amrun_test::lines_of(amrun.out))
    longest_ms = std::max(longest_ms, std::stoi(line.substr(std::string_view("pause ").size())));
  if (longest_ms < 1000) {
    EXPECT_EQ(amrun.err, "");
  }
}

TEST(WatchdogOfANode, ReportsOnASignal) {
  Amrun amrun(job({"-n", "2"}, {"wait_in_vain"}), {{"AM_WATCHDOG_SIGNAL=RTMIN+4"}});
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
  const test::Environment environment("AM_WATCHDOG_SIGNAL", "USR1");
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
}

#endif

std::string error_of_start(am::NodeId nodes, const am::Options& options) {
  const auto body = [](am::Node&) { FAIL() << "a node started"; };
  return test::error_of([&] { am::run_threads(nodes, body, options); });
}

// Each node, so that none waits for another.
TEST(WatchdogOfANode, DoesNotTakeASignalThatTheProgramHandles) {
  const test::Environment environment("AM_WATCHDOG_SIGNAL", "RTMIN+5");
  struct sigaction own {};
  own.sa_handler = [](int) {};
  sigaction(SIGRTMIN + 5, &own, nullptr);
  for (int i = 0; i < 50; ++i)
    EXPECT_THAT(error_of_start(3, {}), HasSubstr("the program handles signal RTMIN+5 itself"));
}

TEST(WatchdogOfANode, DoesNotTakeTheInterruptModesSignal) {
  const test::Environment environment("AM_WATCHDOG_SIGNAL", "URG");
  am::Options options;
  options.dispatch = am::Dispatch::interrupt;
  EXPECT_THAT(error_of_start(2, options), HasSubstr("AM_SIGNAL and AM_WATCHDOG_SIGNAL are both URG"));
}

}  // namespace watchdog_test
