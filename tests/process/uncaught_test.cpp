// Errors that nobody catches: one line, which names the node and the handler that threw, and exit code 1.

#include "core/node/engine.hpp"

#include <thread>
#include "process/command.hpp"
#include "support/check.hpp"

namespace process_test::uncaught_test {

using namespace testing;

void nothing(am::Request&) {}
void throws(am::Request&) { throw std::runtime_error("too\nbad"); }
void throws_a_number(am::Reply&) { throw 7; }

am::Node& begin() {
  am::Node& node = am::start(0, nullptr);
  node.barrier();
  return node;
}
struct RoleBehindABarrier : Role {
  template <class F>
  RoleBehindABarrier(const std::string& name, F play) : Role(name, [play] { play(begin()); }) {}
};
void wait_for_ever(am::Node& node) {
  node.wait_until([] { return false; });
}

const Role only_start("only_start", [] { am::start(0, nullptr); });
const RoleBehindABarrier all_send_to_nowhere("all_send_to_nowhere",
                                             [](am::Node& node) { node.request<nothing>(99); });
const RoleBehindABarrier all_ask_for_too_much("all_ask_for_too_much", [](am::Node& node) {
  static_cast<void>(am::allocate<std::byte>(node, std::size_t{1} << 40));
});
const RoleBehindABarrier one_sends_to_nowhere("one_sends_to_nowhere", [](am::Node& node) {
  if (node.id() == 1) node.request<nothing>(99);
  wait_for_ever(node);
});
/// Node 0 goes on.
const RoleBehindABarrier one_leaves_with_a_code("one_leaves_with_a_code", [](am::Node& node) {
  node.on_peer_death([](am::Node&, am::NodeId) {});
  node.barrier();
  if (node.id() == 1) std::exit(3);
  while (node.engine().board().card(1).wait_status.load() != 3 << 8) node.poll();  // amrun tells it
  test::check_throws<am::Error>([&] { node.barrier(); }, "has left the job with exit code 3 (");
});
const RoleBehindABarrier a_handler_throws("a_handler_throws", [](am::Node& node) {
  if (node.id() == 0) node.request<throws>(1);
  wait_for_ever(node);
});
const RoleBehindABarrier a_handler_throws_in_a_barrier("a_handler_throws_in_a_barrier", [](am::Node& node) {
  if (node.id() == 0) node.request<throws>(1);
  node.barrier();
  wait_for_ever(node);
});
const RoleBehindABarrier a_reply_handler_throws_a_number("a_reply_handler_throws_a_number",
                                                         [](am::Node& node) {
                                                           if (node.id() == 0)
                                                             node.reply_to<throws_a_number>(1);
                                                           wait_for_ever(node);
                                                         });
const RoleBehindABarrier a_timelet_throws("a_timelet_throws", [](am::Node& node) {
  if (node.id() == 1) node.on_timelet(node.count(), [](am::LowEvent&) { throw std::runtime_error("late"); });
  wait_for_ever(node);
});
/// Node 1 sleeps in a barrier that node 0 does not come to, and a handler throws meanwhile.
const RoleBehindABarrier a_handler_throws_in_a_barrier_that_fails(
    "a_handler_throws_in_a_barrier_that_fails", [](am::Node& node) {
      if (node.id() == 0) {
        const std::atomic<std::uint64_t>& waits = node.engine().board().card(1).waiting_since_ns;
        while (waits.load() == 0) std::this_thread::yield();
        node.request<throws>(1);
        return;
      }
      node.barrier();
    });
/// Node 1 catches what its handler throws, and comes to an end of its own at once.
const Role another_error_after_a_caught_one("another_error_after_a_caught_one", [](am::Node& node) {
  try {
    node.barrier();  // node 0 may have left it, and sent
    if (node.id() == 0) node.request<throws>(1);
    wait_for_ever(node);
  } catch (const std::runtime_error&) {
  }
  throw std::logic_error("of the program");
});
const Role own_terminate_handler("own_terminate_handler", [] {
  std::set_terminate([] {
    std::fputs("the program's own\n", stderr);
    std::_Exit(5);
  });
  begin().request<nothing>(99);
});
const Role terminate_without_an_exception("terminate_without_an_exception", [] {
  begin();
  std::terminate();
});
const Role another_thread_throws("another_thread_throws", [] {
  begin();
  std::thread([] { throw std::runtime_error("of a thread"); }).join();
});

const Role threads_throw("threads_throw", [] {
  am::run_threads(3, [](am::Node& node) {
    if (node.id() == 2) throw std::runtime_error("of a node");
  });
});
const Role a_handler_throws_among_threads("a_handler_throws_among_threads", [] {
  am::run_threads(3, [](am::Node& node) {
    if (node.id() == 0) node.request<throws>(2);
    if (node.id() == 2) wait_for_ever(node);
  });
});
const Role throw_after_a_job_of_threads("throw_after_a_job_of_threads", [] {
  am::run_threads(1, [](am::Node&) {});
  throw std::runtime_error("none of libam's business");
});

Outcome alone(const std::string& role, const std::vector<std::string>& environment = {}) {
  return run({this_program(), "--node", role}, {environment});
}
Outcome job(int nodes, const std::string& role, const std::vector<std::string>& environment = {}) {
  return run({amrun, "-n", std::to_string(nodes), this_program(), "--node", role}, {environment});
}
/// The job's first node that failed: what it says, and what amrun adds.
void expect_two_lines(const Outcome& outcome, const std::string& line) {
  expect_end(outcome, 1, MatchesRegex(line + "\namrun: node 1 \\(pid [^\n]*\\) exited with code 1[^\n]*\n"));
}

TEST(Uncaught, ErrorOfTheStart) {
  expect_end(alone("only_start", {"AM_TIMEOUT=5"}), 1,
             MatchesRegex("am: settings: AM_TIMEOUT=\"5\" is not [^\n]*\n"));
}

TEST(Uncaught, ErrorOfOneNode) {
  expect_two_lines(job(3, "one_sends_to_nowhere"),
                   "am: node 1: send a message: there is no node 99: the job has nodes 0 to 2 \\(check the "
                   "node id\\)");
}

TEST(Uncaught, ErrorOfAllNodesIsToldByOne) {
  for (const char* role : {"all_send_to_nowhere", "all_ask_for_too_much"}) {
    const Outcome outcome = expect_end(job(4, role), 1);
    EXPECT_EQ(count(outcome.err, "am: node "), 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 2) << outcome.err;
  }
}

TEST(PeerGone, TellsTheExitCodeOfAPeerThatHasLeft) {
  EXPECT_EQ(job(2, "one_leaves_with_a_code").exit_code, 3);
}

TEST(Uncaught, OfAProcessIsToldWhereItIsLibamsBusiness) {
  struct Row {
    const char* role;
    int exit_code;
    testing::Matcher<std::string> err;
  };
  for (const auto& [role, exit_code, err] : {
           Row{"own_terminate_handler", 5, "the program's own\n"},
           Row{"terminate_without_an_exception", 128 + SIGABRT,
               HasSubstr("terminate called without an active exception")},
           Row{"throw_after_a_job_of_threads", 128 + SIGABRT,
               AllOf(HasSubstr("terminate called"), Not(HasSubstr("am: ")))},
           Row{"another_thread_throws", 1, "am: node 0: nobody catches a std::runtime_error: of a thread\n"},
           Row{"threads_throw", 1, "am: node 2: nobody catches a std::runtime_error: of a node\n"},
           Row{"a_handler_throws_among_threads", 1,
               MatchesRegex("am: node 2: nobody catches a std::runtime_error: too bad; it came out of "
                            "handler [^\n]*throws, for a message from node 0\n")},
       }) {
    SCOPED_TRACE(role);
    expect_end(alone(role), exit_code, err);
  }
}

class UncaughtInEveryMode : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Outcome job_of_two(const std::string& role) {
    return job(2, role, {"AM_DISPATCH=" + std::string(GetParam())});
  }
};

TEST_P(UncaughtInEveryMode, NamesTheHandler) {
  for (const char* role : {"a_handler_throws", "a_handler_throws_in_a_barrier"}) {
    SCOPED_TRACE(role);
    expect_two_lines(job_of_two(role),
                     "am: node 1: nobody catches a std::runtime_error: too bad; it came out of handler "
                     "[^\n]*throws, for a message from node 0");
  }
}

TEST_P(UncaughtInEveryMode, NamesTheHandlerOfWhatIsNoException) {
  expect_two_lines(job_of_two("a_reply_handler_throws_a_number"),
                   "am: node 1: nobody catches a int; it came out of handler [^\n]*throws_a_number, for a "
                   "message from node 0");
}

TEST_P(UncaughtInEveryMode, NamesATimelet) {
  expect_two_lines(job_of_two("a_timelet_throws"),
                   "am: node 1: nobody catches a std::runtime_error: late; it came out of a timelet");
}

TEST_P(UncaughtInEveryMode, TellsOfTheCauseToo) {
  expect_two_lines(
      job_of_two("a_handler_throws_in_a_barrier_that_fails"),
      // The handler may run in the barrier before, which then throws.
      "am: node 1: (barrier: node 0 [^\n]* has left the job \\(this operation needs "
      "it\\); because of: )?nobody catches a std::runtime_error: too bad; it came out of handler "
      "[^\n]*throws, for a message from node 0");
}

TEST_P(UncaughtInEveryMode, BlamesNoHandlerWhoseExceptionWasCaught) {
  expect_two_lines(job_of_two("another_error_after_a_caught_one"),
                   "am: node 1: nobody catches a std::logic_error: of the program");
}

INSTANTIATE_TEST_SUITE_P(Mode, UncaughtInEveryMode, testing::Values("poll", "thread", "interrupt"));

}  // namespace process_test::uncaught_test
