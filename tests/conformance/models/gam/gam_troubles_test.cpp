// <am/gam.h> where things go wrong: handlers that throw, a node that leaves or dies, a job that cannot be joined.
#include <am/gam.h>

#include "conformance/models/troubles.hpp"

namespace gam_troubles_test {

using namespace test;

thread_local int ran;
void throws(vnn_t /*from*/) {
  ++ran;
  throw Thrown();
}
void throws_mem(vnn_t from, void* /*address*/, int /*nbytes*/, void* /*argument*/) { throws(from); }
/// A call that waits for room may let something out, and then has sent nothing.
template <class F>
void send(F call) {
  while (lets_out([&] { check_equal(call(), 0, "a call that sends"); })) {
  }
}

void answers_and_throws(vnn_t from) {
  send([&] { return gam_reply_0(from, throws); });
  throws(from);
}

using GamTroubles = test::OnANode;

// An exception leaves the call that polls, and GAM knows that no handler runs any more: the next request is taken.
TEST_P(GamTroubles, AHandlerThatThrowsHasHadItsMessage) {
  run(2, [](am::Node&) {
    ran = 0;
    check_equal(gam_enable(), 0, "gam_enable");
    const int other = 1 - gam_my_proc();
    const auto meet = [] { lets_out([] { check_equal(gam_barrier(), 0, "gam_barrier"); }); };
    char byte = 1;
    meet();
    for (int round = 1; round <= 10; ++round) {
      // Four run on each node: two requests, the answer to the first, and what was asked for.
      send([&] { return gam_request_0(other, answers_and_throws); });
      send([&] { return gam_request_df(other, throws, 1, 2, 0.5); });
      send([&] { return gam_get(other, &byte, &byte, 0, throws_mem, nullptr); });
      while (ran < 4 * round) lets_out([] { gam_poll(); });
      meet();
    }
    meet();
    check_equal(ran, 40, "handlers that ran");
    check_equal(gam_disable(), 0, "gam_disable");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, GamTroubles, test::cells_of<GamTroubles>(), test::name_of);

using GamLeaving = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
TEST_P(GamLeaving, IsNotAlive) {
  run(2, [](am::Node&) {
    check_equal(gam_enable(), 0, "gam_enable");
    check_equal(gam_barrier(), 0, "gam_barrier");
    if (gam_my_proc() == 1) return;
    while (gam_isalive(1) != 0) {  // which brings the news itself
    }
    check_equal(gam_isalive(0), 1, "this node");
    check_equal(gam_request_0(1, throws), -1, "a request to it");
    check_equal(gam_errno(), GAM_EUNREACHABLE, "why");
    check_equal(gam_barrier(), -1, "gam_barrier");
    check_equal(gam_errno(), GAM_EUNREACHABLE, "why");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, GamLeaving, test::cells_of<GamLeaving>(), test::name_of);

TEST(GamDeath, IsNotAlive) {
  test::survive_node_1([](am::Node&) {
    check_equal(gam_enable(), 0, "gam_enable");
    check_equal(gam_isalive(1 - gam_my_proc()), 1, "before");
    check_equal(gam_barrier(), 0, "gam_barrier");
    if (gam_my_proc() == 1) std::raise(SIGKILL);
    check_equal(gam_barrier(), -1, "gam_barrier");  // without a launcher it is waits that find a death
    check_equal(gam_isalive(1), 0, "after it");
    check_equal(gam_request_0(1, throws), -1, "a request to it");
    check_equal(gam_errno(), GAM_EUNREACHABLE, "why");
    check_equal(gam_isalive(1), 0, "for good");
  });
}

TEST(GamStart, SaysThatTheJobCannotBeJoined) {
  check_equal(gam_errno(), GAM_ENOTENABLED, "before gam_enable");
  {
    const test::Environment wrong("AM_DISPATCH", "sometimes");
    check_equal(gam_enable(), -1, "gam_enable");
  }
  check_equal(gam_errno(), GAM_ESTART, "why");
}

class GamDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

int no_function = 3;

// It comes back to its own node as it is: so the call says what it is, before the data come.
TEST_F(GamDeathTest, AGetWithAHandlerThatIsNoFunction) {
  EXPECT_DEATH(test::run_alone([](am::Node&) {
                 check_equal(gam_enable(), 0, "gam_enable");
                 char byte = 1;
                 gam_get(0, &byte, &byte, 1, reinterpret_cast<std::uintptr_t>(&no_function), nullptr);
               }),
               "am: node 0: gam_get with a handler that is no function of this program or its libraries: ");
}

TEST_F(GamDeathTest, GamExitEndsTheProgramWithItsCode) {
  EXPECT_EXIT(gam_exit(4), testing::ExitedWithCode(4), "") << "before gam_enable";
  EXPECT_EXIT(
      {
        gam_enable();
        gam_exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        gam_enable();
        gam_request_1(0, gam_exit, 0);  // whose first argument is the sender, 0
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace gam_troubles_test
