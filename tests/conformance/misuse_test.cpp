// What the debug build checks: a poll or a wait inside a handler, a waiting send where none is allowed. Each ends the node
// with a message that names the handler. And what every build ends: state of the wrong type.

#include "support/job.hpp"

namespace misuse_test {

using test::check_ok;

struct State {};
void polls_in_a_handler(am::Request& request) { request.node().poll(); }
void waits_in_a_handler(am::Request& request) {
  request.node().wait_until([] { return false; });
}
void sink(am::Request& /*request*/) {}
void reply_sink(am::Reply& /*reply*/) {}
void reply_handler_that_waits(am::Reply& reply) { static_cast<void>(reply.node().reply_to<reply_sink>(0)); }
void request_handler_that_waits_for_low(am::Request& request) {
  static_cast<void>(request.node().request<sink>(0));
}
void asks_for_other_state(am::Request& request) { static_cast<void>(request.state<State>()); }

template <auto H>
void request_it() {
  test::run_alone([](am::Node& node) {
    check_ok(node.request<H>(0));
    for (int i = 0; i < 100; ++i) node.poll();
  });
}
template <auto H>
void reply_it() {
  test::run_alone([](am::Node& node) {
    check_ok(node.reply_to<H>(0));
    for (int i = 0; i < 100; ++i) node.poll();
  });
}

class MisuseDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(MisuseDeathTest, WaitInALowEvent) {
  EXPECT_DEATH(request_it<waits_in_a_handler>(), "waits_in_a_handler");
  EXPECT_DEATH(test::run_alone([](am::Node& node) {
                 node.on_timelet(0,
                                 [](am::LowEvent& event) { event.node().wait_until([] { return false; }); });
                 node.poll();
               }),
               "timelet");
}

TEST_F(MisuseDeathTest, StateThatWasNotAttached) {
  EXPECT_DEATH(request_it<asks_for_other_state>(), "attach");
}

// A waiting send that would really wait where it must not ends the node in every build: it could never end by itself.
void fills_low_and_waits(am::Request& request) {
  for (;;) static_cast<void>(request.node().request<sink>(0));
}
TEST_F(MisuseDeathTest, ASendThatCouldNeverEnd) {
  EXPECT_DEATH(request_it<fills_low_and_waits>(), "fills_low_and_waits");
}

// ... but a handler is not to blame for what another thread does while it runs.
void lends_its_node(am::Request& request) {
  std::thread([&node = request.node()] {
    for (;;) static_cast<void>(node.request<sink>(0));
  }).join();
}
void lets_another_wait(am::Request& request) {
  std::thread([&node = request.node()] { node.wait_until([] { return false; }); }).join();
}
TEST_F(MisuseDeathTest, AnotherThreadWhileAHandlerRuns) {
  EXPECT_DEATH(request_it<lends_its_node>(), "used by another thread");
  EXPECT_DEATH(request_it<lets_another_wait>(), "used by another thread");
}

#ifdef AM_CHECKED
TEST_F(MisuseDeathTest, PollsAndWaitingSendsInHandlers) {
  EXPECT_DEATH(request_it<polls_in_a_handler>(), "polls_in_a_handler");
  EXPECT_DEATH(reply_it<reply_handler_that_waits>(), "reply_handler_that_waits");
  EXPECT_DEATH(request_it<request_handler_that_waits_for_low>(), "request_handler_that_waits_for_low");
}

TEST_F(MisuseDeathTest, AnotherThread) {
  EXPECT_DEATH(test::run_alone([](am::Node& node) { std::thread([&] { node.poll(); }).join(); }),
               "another thread");
}
#else
// The other builds do not check: a poll in a low handler serves the high network, in a high one nothing.
TEST(Misuse, PollInAHandlerDoesNotNest) { request_it<polls_in_a_handler>(); }
TEST(Misuse, AWaitingSendThatHasRoomGoesThrough) {
  reply_it<reply_handler_that_waits>();
  request_it<request_handler_that_waits_for_low>();
}
#endif

}  // namespace misuse_test
