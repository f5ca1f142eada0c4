// When handlers of CMAM and CMAML run (<am/cmam.h>): with interrupts on, without a call; with interrupts off, in calls only, and in a
// poll for replies those of replies only. And what handlers and calls are told of that.
#include <am/cmam.h>
#include <am/gam.h>
#include <sys/mman.h>
#include <am/am.hpp>

#include "support/cmam.hpp"

namespace cmam_interrupts_test {

using namespace test;

// -- signs: what nodes tell each other without a call --------------------------------------------------------------------------------

/// In memory that threads and forked processes share.
struct Signs {
  std::atomic<int> computes = 0;  ///< rounds in which node 1 is out of all calls
  std::atomic<int> sent = 0;      ///< rounds for which node 0 has sent its message
  std::atomic<int> ran = 0;       ///< handlers of such messages
  std::atomic<int> inside = -1;   ///< what the last of them was told of where it runs
  std::atomic<int> seen = 0;      ///< rounds that are over for node 1
};
Signs& signs =
    *new (mmap(nullptr, sizeof(Signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Signs;

int told_inside() { return CMAML_inside_interrupt_handler() * 10 + CMMD_inside_interrupt_handler(); }
void runs() {
  signs.inside = told_inside();
  ++signs.ran;
}
void wait_without_calls(const std::atomic<int>& sign, int round) {
  while (sign < round) std::this_thread::yield();
}
void wait_polling(const std::atomic<int>& sign, int round) {
  while (sign < round) {
    CMAM_poll();
    std::this_thread::yield();
  }
}
/// Node 0's part of a round: to send when node 1 is out of all calls, and to go on polling for what a network holds back.
template <class Send>
void send_to_one_that_computes(int round, Send send) {
  wait_polling(signs.computes, round);
  send();
  signs.sent = round;
  wait_polling(signs.seen, round);
}

using CmamPolling =
    test::OnCmam<test::OnSubstrates<test::Suite{.asynchronous = false, .about = test::About::node}>>;

TEST_P(CmamPolling, PollsForRepliesLeaveRequestsAlone) {
  new (&signs) Signs;
  run_cmam(2, [] {
    int round = 0;
    for (void (*const reply_poll)() : {CMAM_reply_poll, CMAML_reply_poll}) {
      ++round;
      if (me() == 0) {
        send_to_one_that_computes(round, [] {
          CMAM_4(1, runs);
          CMAM_reply_4(1, count_one);
        });
      } else {
        signs.computes = round;
        wait_without_calls(signs.sent, round);
        while (mine().flag == 0) reply_poll();
        for (int i = 0; i < 100; ++i) reply_poll();
        check_equal(signs.ran.load(), round - 1, "the request waits");
        wait_polling(signs.ran, round);
        check_equal(signs.ran.load(), round, "until all is polled for");
        mine().flag = 0;
        signs.seen = round;
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamPolling, test::cells_of<CmamPolling>(), test::name_of);

using CmamInterruptCalls = test::OnCmam<test::OnEverySubstrate>;

TEST_P(CmamInterruptCalls, CallsTellWhetherInterruptsAreOn) {
  new (&signs) Signs;
  run_cmam(2, [] {
    const bool interrupts = am::this_node()->dispatch() != am::Dispatch::poll;
    const int at_first = CMAML_interrupt_status();
    check_equal(at_first, interrupts ? 1 : 0, "on where there are any");
    check_equal(told_inside(), 0, "not in a handler");
    if (me() == 0) CMAM_4(1, runs);
    wait_polling(signs.ran, 1);
    check_equal(signs.inside.load(), interrupts ? 11 : 0, "in a handler, where there are interrupts");
    check_equal(CMAML_disable_interrupts(), at_first, "tells what was before");
    check_equal(CMMD_disable_interrupts(), 0, "off");
    check_equal(CMMD_interrupt_status(), 0, "off");
    CMAM_enable_interrupt();
    check_equal(CMMD_interrupt_status(), 1, "on");
    CMAM_disable_interrupt();
    check_equal(CMAML_enable_interrupts(), 0, "off before");
    check_equal(CMMD_enable_interrupts(), 1, "on before");
  });
}

/// A handler may run late, which time would have to show: so a fault may get by here in one of many runs, and none is made up.
TEST_P(CmamInterruptCalls, InterruptsOffMeansInCallsOnly) {
  new (&signs) Signs;
  run_cmam(2, [] {
    int round = 0;
    for (void (*const disable)() :
         {CMAM_disable_interrupt, +[] { CMAML_disable_interrupts(); }, +[] { CMMD_disable_interrupts(); }}) {
      ++round;
      if (me() == 1) disable();
      CMMD_sync_with_nodes();  // a call that opens for handlers, and closes again
      if (me() == 0) {
        send_to_one_that_computes(round, [] { CMAM_4(1, runs); });
      } else {
        signs.computes = round;
        wait_without_calls(signs.sent, round);
        for (int i = 0; i < 50; ++i) {
          check_equal(signs.ran.load(), round - 1, "the computation is undisturbed");
          std::this_thread::yield();
        }
        wait_polling(signs.ran, round);  // calls bring it all the same
        signs.seen = round;
        CMAM_enable_interrupt();
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamInterruptCalls, test::cells_of<CmamInterruptCalls>(), test::name_of);

using CmamInterrupts = test::OnCmam<test::OnAsynchronousSubstrates>;

TEST_P(CmamInterrupts, InterruptsOnMeansWithoutACall) {
  new (&signs) Signs;
  run_cmam(2, [] {
    void (*const ways[])() = {[] {},  // they are on at first
                              CMAM_enable_interrupt, [] { CMAML_enable_interrupts(); },
                              [] { CMMD_enable_interrupts(); }};
    int round = 0;
    for (void (*const enable)() : ways) {
      ++round;
      if (me() == 0) {
        send_to_one_that_computes(round, [] { CMAM_4(1, runs); });
      } else {
        if (round > 1) CMAML_disable_interrupts();
        enable();
        signs.computes = round;
        while (signs.ran < round) {  // computes
        }
        check_equal(signs.inside.load(), 11, "told where it runs");
        check_equal(told_inside(), 0, "not the computation");
        signs.seen = round;
      }
    }
  });
}
void native(am::Request& /*request*/) { count_one(); }
void of_gam(vnn_t /*from*/) { count_one(); }

TEST_P(CmamInterrupts, OffLetHandlersRunInCallsOfLibamAndOfOtherInterfaces) {
  run_cmam(2, [] {
    am::Node& node = *am::this_node();
    CMAM_disable_interrupt();
    node.request<native>(static_cast<am::NodeId>(next()));
    node.wait_until([] { return mine().flag == 1; });
    check_equal(am::all_reduce(node, 1, std::plus<>()), 2, "a collective");
    check_equal(gam_enable(), 0, "gam_enable");
    check_equal(gam_request_0(next(), of_gam), 0, "gam_request_0");
    while (mine().flag < 2) gam_poll();
    gam_disable();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamInterrupts, test::cells_of<CmamInterrupts>(), test::name_of);

}  // namespace cmam_interrupts_test
