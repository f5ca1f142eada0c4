#include "emulated_hw/mmachine/costs/dispatch.hpp"

#include <gtest/gtest.h>

namespace am::mmachine::costs {
namespace dispatch_test {

constexpr Cycle at = 100;

Cycle cost(Dispatch how, bool comes_too_late = false) {
  Cluster cluster;
  Dispatching dispatching(how, comes_too_late);
  dispatching.bring_in(cluster, at);
  return cluster.next_issue() <= at ? 0 : cluster.next_issue() - at;
}

TEST(Dispatch, AThreadSlotIsThere) { EXPECT_EQ(cost(Dispatch::thread_slot), 0u); }

/// Two operations for each register, out through a pointer and for the interrupt in again; the jump goes beside the last one.
TEST(Dispatch, APollSavesLiveRegistersAnInterruptAll) {
  EXPECT_EQ(cost(Dispatch::polled), 2 * jump_cycles + 2 * polling_registers);
  EXPECT_EQ(cost(Dispatch::interrupt), 2 * jump_cycles + 4 * interrupt_registers - 1);
}

TEST(Dispatch, AMissedPollCostsAPeriod) {
  EXPECT_EQ(cost(Dispatch::polled, true), cost(Dispatch::polled) + missed_poll_cycles);
}

TEST(Dispatch, WhatWaitsWhenAHandlerEndsFindsTheDispatcherThere) {
  for (const Dispatch how : {Dispatch::polled, Dispatch::interrupt}) {
    Cluster cluster;
    Dispatching dispatching(how);
    dispatching.bring_in(cluster, at);
    const Cycle in = cluster.next_issue();
    dispatching.bring_in(cluster, at + 1);
    EXPECT_EQ(cluster.next_issue(), in);
    dispatching.bring_in(cluster, in + 1000);
    EXPECT_GT(cluster.next_issue(), in + 1000) << "the program was restored meanwhile";
  }
}

TEST(Dispatch, EachMessageThatComesTooLateInterrupts) {
  Cluster cluster;
  Dispatching dispatching(Dispatch::interrupt, true);
  dispatching.bring_in(cluster, at);
  const Cycle in = cluster.next_issue();
  dispatching.bring_in(cluster, at + 1);
  EXPECT_EQ(cluster.next_issue(), in + cost(Dispatch::interrupt) + 2 * interrupt_registers)
      << "restored, and interrupted again";
}

}  // namespace dispatch_test
}  // namespace am::mmachine::costs
