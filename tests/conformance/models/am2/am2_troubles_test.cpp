// <am/am2.h> where things go wrong: handlers that throw, nodes that leave or die while others count on them.

#include "conformance/models/troubles.hpp"
#include "support/am2_job.hpp"

namespace am2_troubles_test {

using namespace test;

thread_local std::vector<long> ran;
thread_local int answers;
enum : handler_t { throws = 1, answers_and_throws, answer };

void throws_it(void* /*token*/, long number) {
  ran.push_back(number);
  throw Thrown();
}
void answers_and_throws_it(void* token, long number) {
  ran.push_back(number);
  ok(AM_Reply1(token, answer, number), "AM_Reply1");
  throw Thrown();
}
void counts(void* /*token*/, long /*number*/) { ++answers; }

/// A job of AMX with these handlers.
struct Job : test::Job {
  Job() {
    ran.clear();
    answers = 0;
    set_handler(endpoint, throws, throws_it);
    set_handler(endpoint, answers_and_throws, answers_and_throws_it);
    set_handler(endpoint, answer, counts);
    meet();
  }
  /// Behind libam's own barrier no node is in AM-II's any more, where it would run what others send it now.
  static void meet() {
    barrier();
    am::this_node()->barrier();
  }
};

using Am2Troubles = test::OnANode;

// An exception leaves the call that polls. Those behind it run in the next one, in their order, and all are answered: the sender
// has room for one unanswered request.
TEST_P(Am2Troubles, AHandlerThatThrowsHasHadItsMessage) {
  run(2, [](am::Node&) {
    const Job job;
    constexpr int times = 20;
    if (job.me == 0) {
      ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
      for (int i = 0; i < times; ++i)
        ok(AM_Request1(job.endpoint, 1, i % 2 == 0 ? throws : answers_and_throws, i), "AM_Request1");
      while (answers < times / 2) ok(AM_Poll(job.bundle), "AM_Poll");
      ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier");
    } else {
      int out = 0;
      while (out < times) {
        if (lets_out([&] { ok(AM_Poll(job.bundle), "AM_Poll"); })) ++out;
        check_equal(ran.size(), static_cast<std::size_t>(out), "one exception for each");
      }
      for (int i = 0; i < times; ++i) check_equal(ran[static_cast<std::size_t>(i)], i, "their order");
      ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier");
    }
    check(returned.empty(), "nothing comes back");
    ok(AM_Terminate(), "AM_Terminate");
  });
}

// The others count on a node that has entered a barrier: so it goes on to its end there, and throws then. The next one is in step.
TEST_P(Am2Troubles, ABarrierGoesOnWhereAHandlerThrows) {
  run(3, [](am::Node&) {
    const Job job;
    constexpr int times = 5;
    for (int round = 0; round < times; ++round) {
      // All that node 0 sends is there before it enters: it runs in node 1's barrier, or in node 2's.
      if (job.me == 0) {
        for (const int to : {1, 2, 1})
          ok(AM_Request1(job.endpoint, to, answers_and_throws, round), "AM_Request1");
        while (answers < 3 * (round + 1)) ok(AM_Poll(job.bundle), "AM_Poll");
      }
      const bool out = lets_out([] { ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier"); });
      check_equal(out, job.me != 0, "what the barrier throws");
      const int sent = job.me == 0 ? 0 : job.me == 1 ? 2 : 1;
      check_equal(static_cast<int>(ran.size()), sent * (round + 1), "handlers that ran");
      Job::meet();
    }
    ok(AM_Terminate(), "AM_Terminate");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Troubles, test::cells_of<Am2Troubles>(), test::name_of);

// One that left before it entered: nobody waits for it for ever.
using Am2LeavingInTrouble = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
TEST_P(Am2LeavingInTrouble, EndsABarrierOfTheOthers) {
  run(3, [](am::Node&) {
    if (Job().me == 2) return;
    check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "AMX_SPMDBarrier");
    check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "and again");
    ok(AM_Terminate(), "AM_Terminate");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2LeavingInTrouble, test::cells_of<Am2LeavingInTrouble>(), test::name_of);

// -- death ------------------------------------------------------------------------------------------------------------------

/// Node 1 dies when it was sent a request, which it does not run.
void survive(const std::function<void(const Job&)>& needs_node_1) {
  survive_node_1([&](am::Node&) {
    const Job job;
    if (job.me == 1) {
      ok(AM_SetEventMask(job.bundle, AM_NOTEMPTY), "AM_SetEventMask");
      ok(AM_WaitSema(job.bundle), "AM_WaitSema");
      std::raise(SIGKILL);
    }
    ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
    ok(AM_Request1(job.endpoint, 1, throws, 0), "AM_Request1");
    needs_node_1(job);
  });
}

TEST(Am2Death, EndsARequestThatWaitsForCredit) {
  survive([](const Job& job) {
    ok(AM_Request1(job.endpoint, 1, throws, 7), "it has no credit, and gets none");
    ok(AM_Poll(job.bundle), "AM_Poll");
    check_equal(returned.size(), std::size_t{1}, "what came back");
    check_equal(returned.front().status, EUNREACHABLE, "why");
    check_equal(returned.front().block.words[0], 7, "the one that waited");
    ok(AM_Request1(job.endpoint, 0, answer, 1), "to itself");
    check_equal(answers, 1, "the node is well");
  });
}
TEST(Am2Death, EndsABarrier) {
  survive([](const Job&) { check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "AMX_SPMDBarrier"); });
}
// The answer that is owed by the dead node never comes. (That the other one ends is seen by its exit code.)
TEST(Am2Death, EndsTheWaitForAnswersAtTheEnd) {
  survive([](const Job&) { AMX_SPMDExit(0); });
}

}  // namespace am2_troubles_test
