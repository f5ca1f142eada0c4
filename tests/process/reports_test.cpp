// What a node says of a wait that takes too long: what it waits for, what may not run meanwhile, and which handler it is in.
// A job's nodes are forked; what they say is read by the test. Times only say when to report: no verdict depends on them.
#include <gmock/gmock.h>
#include <am/am.hpp>

#include <fstream>

#include "support/job.hpp"

namespace reports_test {

using test::check;
using namespace testing;

/// What the nodes of a job say that ends, as it must, by AM_TIMEOUT or an exception.
std::string last_words(am::NodeId n, am::Dispatch dispatch, const test::Body& body,
                       const char* how_long = "400ms") {
  const test::Environment report("AM_REPORT_AFTER", "50ms");
  const test::Environment timeout("AM_TIMEOUT", how_long);
  const test::Environment mode("AM_DISPATCH", std::string(am::to_string(dispatch)));
  testing::internal::CaptureStderr();
  EXPECT_ANY_THROW(test::Processes(n, body).wait());
  return testing::internal::GetCapturedStderr();
}

void wait_for_ever(am::Node& node) {
  node.wait_until([] { return false; });
}

TEST(Reports, SayThatAWaitIsInACriticalSection) {
  EXPECT_THAT(last_words(1, am::Dispatch::poll,
                         [](am::Node& node) {
                           const am::CriticalSection quiet(node);
                           wait_for_ever(node);
                         }),
              ContainsRegex("am: node 0 has waited [0-9]+ ms in wait_until; in a critical section: no event "
                            "runs here\n"));
}

TEST(Reports, SayWhatIsMaskedHere) {
  EXPECT_THAT(last_words(1, am::Dispatch::poll,
                         [](am::Node& node) {
                           node.enable_event(am::Event::low_message, false);
                           node.enable_event(am::Event::timelet, false);
                           node.enable_low_events(false);
                           node.enable_active_messages(false);
                           wait_for_ever(node);
                         }),
              ContainsRegex("in wait_until; low events are disabled here; low messages are masked here; "
                            "timelets are masked here; active messages are disabled here\n"));
}

/// What the nodes have said so far, which CaptureStderr lets go into a file.
std::string words_so_far() {
  std::ifstream file("/proc/self/fd/2");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// In a wait_until, so that this node reports; then the job ends.
void wait_until_told(am::Node& node, const std::string& words) {
  node.wait_until([&] {
    check(words_so_far().find(words) == std::string::npos, "it has been told");
    return false;
  });
}

// Neither node ends by its timeout: the other one might not have had its turn by then.
TEST(Reports, SayWhatIsMaskedAtAPeer) {
  EXPECT_THAT(last_words(
                  2, am::Dispatch::poll,
                  [](am::Node& node) {
                    if (node.id() == 1) {
                      node.enable_event(am::Event::outlet, false);
                      node.barrier();
                    }
                    const am::host::NodeCard& other = node.engine().board().card(1);
                    while (other.waiting_since_ns.load() == 0) test::poll_or_yield(node);
                    wait_until_told(node, "masked there\n");
                  },
                  "100s"),
              ContainsRegex("am:   node 1 .* has waited [0-9]+ ms in barrier; the outlet is masked there\n"));
}

void dies(am::Request&) { std::raise(SIGKILL); }

TEST(Reports, NameTheHandlerInWhichAPeerDied) {
  testing::internal::CaptureStderr();
  EXPECT_ANY_THROW({
    test::Processes job(2, [](am::Node& node) {
      node.barrier();
      if (node.id() == 0) node.request<dies>(1);
      wait_for_ever(node);
    });
    job.expect_signal(1, SIGKILL);
    job.wait();
  });
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("am: node 0: node 1 \\(pid [0-9]+, host [^)]*\\) ended without leaving the job; "
                            "ending with it \\(it ran handler .*dies, for a message from node 0\\)\n"));
}

class ReportsInEveryMode : public testing::TestWithParam<am::Dispatch> {};

void answer(am::Reply&) {}
void answers(am::Request& request) { request.reply<answer>(); }

// More than the ring for answers holds.
TEST_P(ReportsInEveryMode, SayThatHighMessagesAreMaskedWhereAnswersFindNoRoom) {
  EXPECT_THAT(
      last_words(1, GetParam(),
                 [](am::Node& node) {
                   node.barrier();
                   node.enable_event(am::Event::high_message, false);
                   for (int i = 0; i < 41; ++i) check(node.request<answers>(0) == am::Status::ok, "request");
                   wait_for_ever(node);
                 }),
      AllOf(ContainsRegex("am: node 0 has waited [0-9]+ ms in a send on the high network; it runs "
                          "handler .*answers, for a message from node 0; high messages are masked "
                          "here\n"),
            ContainsRegex("; not yet taken from this node: .* low.*, 40 high \\(40 packets in 40 lines\\)\n"),
            ContainsRegex("am: node 0: gave up after [0-9]+ ms in a send on the high network")));
}

INSTANTIATE_TEST_SUITE_P(Modes, ReportsInEveryMode, testing::ValuesIn(test::every_mode),
                         [](const auto& mode) { return std::string(am::to_string(mode.param)); });

#ifndef AM_CHECKED  // which ends such a handler at its first poll

void polls_for_a_request(am::Request& request) {
  for (;;) request.node().poll();
}
void polls_in_an_answer(am::Reply& reply) {
  for (;;) reply.node().poll();
}

TEST_P(ReportsInEveryMode, NameAHandlerThatPollsForWhatCannotRun) {
  EXPECT_THAT(last_words(1, GetParam(),
                         [](am::Node& node) {
                           node.request<polls_for_a_request>(0);
                           wait_for_ever(node);
                         }),
              AllOf(ContainsRegex("am: node 0 has waited [0-9]+ ms in polls that run nothing, .*; it runs "
                                  "handler .*polls_for_a_request, for a message from node 0"),
                    ContainsRegex("am: node 0: gave up after [0-9]+ ms in polls that run nothing")));
  EXPECT_THAT(last_words(1, GetParam(),
                         [](am::Node& node) {
                           node.reply_to<polls_in_an_answer>(0);
                           wait_for_ever(node);
                         }),
              ContainsRegex("am: node 0 has waited [0-9]+ ms in polls that run nothing, .*; it runs handler "
                            ".*polls_in_an_answer, for a message from node 0"));
}

struct Answers {
  int came = 0;
  void come(am::Reply&) { ++came; }
  void ask_again(am::Request& request) { static_cast<void>(request.reply<&Answers::come>()); }
  void poll_for_many(am::Request& request) {
    constexpr int many = 300;
    for (int asked = 0; came < many;) {
      if (asked == came && request.node().try_request<&Answers::ask_again>(1) == am::Status::ok) ++asked;
      request.node().poll();
    }
  }
};

// As long as answers come it gets on: the low handler polls for them, which the contract does not allow but every release build does.
TEST(Reports, SayNothingOfAHandlerWhosePollsRunAnswers) {
  const test::Environment timeout("AM_TIMEOUT", "60s");
  testing::internal::CaptureStderr();
  EXPECT_NO_THROW(test::Processes(2, [](am::Node& node) {
                    Answers answers;
                    node.attach(answers);
                    node.barrier();
                    if (node.id() == 0) node.request<&Answers::poll_for_many>(0);
                    if (node.id() == 0) node.wait_until([&] { return answers.came == 300; });
                    node.barrier();
                  }).wait());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

#endif

}  // namespace reports_test
