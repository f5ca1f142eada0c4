// <am/cmam.h> where things go wrong: handlers that throw, in the middle of what else is under way.
#include <am/cmam.h>

#include "conformance/models/troubles.hpp"

namespace cmam_troubles_test {

using namespace test;

/// Of the nodes of one process each has its own. Handlers may run beside the computation that looks.
struct Place {
  std::atomic<int> came = 0;
  std::atomic<int> thrown = 0;
  void clear() {
    came = 0;
    thrown = 0;
  }
};
std::array<Place, 4> places;
Place& mine() { return places[static_cast<std::size_t>(CMMD_self_address())]; }

/// Not in the interrupt mode: an exception is made with malloc.
bool handlers_throw = true;

void comes() { ++mine().came; }
void comes_and_throws() {
  comes();
  ++mine().thrown;
  if (handlers_throw) throw Thrown();
}

/// More messages than a network has room for, each fifth of which throws where it runs.
constexpr int flood = 400;
void sends_many(int to) {
  for (int i = 0; i < flood; ++i) CMAM_4(to, i % 5 == 0 ? comes_and_throws : comes);
}
void answers_and_throws(int to) {
  while (lets_out([&] { CMAM_reply_4(to, comes_and_throws); })) {  // nothing was sent then
  }
  comes_and_throws();
}

void poll_until_came(int count) {
  while (mine().came < count) {
    lets_out([] { CMAM_poll(); });
    std::this_thread::yield();
  }
}

/// Several handlers may throw at once where they run beside the computation. It gets the first exception.
class CmamTroubles : public test::OnANode {
 protected:
  CmamTroubles() { handlers_throw = GetParam().dispatch != am::Dispatch::interrupt; }
};

TEST_P(CmamTroubles, AHandlerThatThrowsHasHadItsMessage) {
  run(2, [](am::Node&) {
    mine().clear();
    const int other = 1 - CMMD_self_address();
    lets_out([] { CMMD_sync_with_nodes(); });  // the other one may have begun
    for (int round = 1; round <= 20; ++round) {
      while (lets_out([&] { CMAM_request_4(other, answers_and_throws, CMMD_self_address()); })) {
        // a call that waits for room may let something out, and then has sent nothing
      }
      poll_until_came(2 * round);
      lets_out([&] { CMMD_sync_with_nodes(); });
    }
    lets_out([] { CMAM_poll(); });
    check_equal(mine().came.load(), 40, "handlers that ran");
    check_equal(mine().thrown.load(), 40, "those that threw");
    CMMD_sync_with_nodes();
  });
}

// What a handler sends without room goes later, by polls, in which handlers run that throw: nothing of it is lost.
TEST_P(CmamTroubles, WhatWaitsForRoomIsSentAlthoughHandlersThrow) {
  run(1, [](am::Node&) {
    mine().clear();
    CMMD_sync_with_nodes();
    CMAM_4(0, sends_many, 0);
    poll_until_came(flood);
    lets_out([] { CMAM_poll(); });
    check_equal(mine().came.load(), flood, "each once");
    check_equal(mine().thrown.load(), flood / 5, "those that threw");
    CMMD_sync_with_nodes();
  });
}

INSTANTIATE_TEST_SUITE_P(Models, CmamTroubles, test::cells_of<CmamTroubles>(), test::name_of);

// One that left before it has started a barrier: nobody waits for it for ever.
using CmamLeaving = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
TEST_P(CmamLeaving, EndsABarrierOfTheOthers) {
  run(3, [](am::Node&) {
    CMMD_sync_with_nodes();
    CMMD_sync_with_nodes_start();
    CMMD_sync_with_nodes_finish();
    if (CMMD_self_address() == 1) return;
    CMMD_sync_with_nodes_start();
    check_equal(CMMD_sync_done(), 0, "CMMD_sync_done");
    test::check_throws<am::Error>([] { CMMD_sync_with_nodes_finish(); }, "node 1");
    test::check_throws<am::Error>([] { CMMD_sync_with_nodes(); },
                                  "has left the job");  // node 1, or one that heard so first
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamLeaving, test::cells_of<CmamLeaving>(), test::name_of);

}  // namespace cmam_troubles_test
