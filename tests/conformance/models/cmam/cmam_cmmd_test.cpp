// The part of CMMD that <am/cmam.h> gives: who and how many, barriers, reductions and broadcasts, the global OR, timers.
#include <am/cmam.h>
#include <am/am.hpp>

#include "support/cmam.hpp"

namespace cmam_cmmd_test {

using namespace test;
using CmamCmmd = test::OnCmam<test::OnEverySubstrate>;

TEST_P(CmamCmmd, CollectivesOfCmmd) {
  run_cmam(3, [] {
    check_equal(static_cast<am::NodeId>(CMMD_self_address()), am::this_node()->id(), "who");
    check_equal(CMMD_partition_size(), 3, "how many");
    check_equal(CMMD_reduce_int(me() - 5, CMMD_combiner_add), -12, "sum");
    check_equal(CMMD_reduce_int(0x7fffffff, CMMD_combiner_add), 0x7ffffffd, "wraps around");
    check_equal(CMMD_reduce_int(-me(), CMMD_combiner_min), -2, "least");
    check_equal(CMMD_reduce_uint(static_cast<unsigned>(me()), CMMD_combiner_max), 2U, "most");
    check_equal(CMMD_reduce_luint(1UL << me(), CMMD_combiner_ior), 7UL, "or");
    check_equal(CMMD_reduce_lint(3L << me(), CMMD_combiner_xor), 9L, "xor");
    check_equal(CMMD_reduce_int(6 + me(), CMMD_combiner_and), 0, "and");
    check_equal(CMMD_reduce_double(0.5, CMMD_combiner_add), 1.5, "doubles");
    check_equal(CMMD_reduce_float(static_cast<float>(me()), CMMD_combiner_max), 2.0F, "floats");
    int value = me() == 1 ? 77 : 0;
    if (me() == 1) {
      CMMD_bc_to_nodes(&value, sizeof value);
    } else {
      CMMD_receive_bc_from_node(&value, sizeof value);
    }
    check_equal(value, 77, "broadcast");
    const int own = me() * 11;
    std::array<int, 3> all{};
    CMMD_concat_with_nodes(const_cast<int*>(&own), all.data(), sizeof own);
    check(all == std::array<int, 3>{0, 11, 22}, "concatenation");
    for (int round = 0; round < 20; ++round) {
      CMMD_sync_with_nodes_start();
      if (round % 3 == me()) {
        while (CMMD_sync_done() == 0) {
        }
      }
      CMMD_sync_with_nodes_finish();
      check_equal(CMMD_sync_done(), 1, "over");
    }
  });
}

/// NESL's "all my messages have been handled": the global OR, then sums of what was sent and received until that is 0.
TEST_P(CmamCmmd, TheGlobalOrSaysWhenAllAreDone) {
  run_cmam(3, [] {
    check_equal(CMMD_set_global_or(1), 0, "was clear");
    check_equal(CMMD_set_global_or(1), 1, "was set");
    CMMD_sync_with_nodes();
    while (CMMD_get_global_or() == 0) CMAML_poll();
    int sent = 0;
    for (int i = 0; i < 50 * (me() + 1); ++i, ++sent)
      CMAML_rpc((me() + i) % CMMD_partition_size(), count_one);
    CMMD_set_global_or(0);
    while (CMMD_get_global_or() != 0) CMAML_poll();
    const auto received = [] {
      const am::CriticalSection quiet(*am::this_node());
      return mine().flag;
    };
    while (CMMD_reduce_int(sent - received(), CMMD_combiner_add) != 0) CMAML_poll();
    check_equal(CMMD_reduce_int(received(), CMMD_combiner_add), 300, "every message");
  });
}

void in_order(int number) {
  mine().second = mine().second + (mine().flag == number ? 0 : 1);
  count_one();
}
void ends(void* /*info*/, void* /*base*/) { ++mine().sum; }

// The CM-5's control network served no messages while interrupts were off: they run in the next poll, in their order.
TEST_P(CmamCmmd, CollectivesRunNoHandlersWhileInterruptsAreOff) {
  run_cmam(2, [] {
    static thread_local std::array<int, 2> numbers;
    void (*const collectives[])() = {
        CMMD_sync_with_nodes, [] { CMMD_reduce_int(1, CMMD_combiner_add); },
        [] { (me() == 0 ? CMMD_bc_to_nodes : CMMD_receive_bc_from_node)(numbers.data(), 4); },
        [] { CMMD_concat_with_nodes(&numbers[static_cast<std::size_t>(me())], numbers.data(), 4); },
        [] {
          CMMD_sync_with_nodes_start();
          while (CMMD_sync_done() == 0) {
          }
          CMMD_sync_with_nodes_finish();
        }};
    for (const int count : {1, 20}) {
      for (void (*const collective)() : collectives) {
        int memory = 0;
        CMAML_disable_interrupts();
        const int segment =
            CMMD_reduce_int(me() == 0 ? CMAM_open_segment(&memory, sizeof memory, code(ends), nullptr) : 0,
                            CMMD_combiner_add);
        if (me() == 1) {
          for (int i = 0; i < count; ++i) CMAML_rpc(0, in_order, i);
          CMAM_reply_xfer(0, segment, &numbers, sizeof memory);
        }
        collective();
        CMMD_sync_with_nodes();
        check(mine().flag == 0 && mine().sum == 0, "nothing has run");
        while (me() == 0 && (mine().flag < count || mine().sum == 0)) CMAML_poll();
        check_equal(mine().second, 0, "out of order");
        mine() = {};
        CMAML_enable_interrupts();
        CMMD_sync_with_nodes();
      }
    }
  });
}

TEST_P(CmamCmmd, TimersRun) {
  run(1, [](am::Node&) {
    check_equal(CMMD_node_timer_clear(3), 0, "cleared");
    check_equal(CMMD_node_timer_start(3), 0, "started");
    check_equal(CMMD_node_timer_start(3), -1, "runs already");
    const double before = CMMD_node_timer_elapsed(3);
    double later = before;
    while (later == before) later = CMMD_node_timer_elapsed(3);
    check(later > before, "time passes");
    check_equal(CMMD_node_timer_stop(3), 0, "stopped");
    check_equal(CMMD_node_timer_stop(3), -1, "stands already");
    check_equal(CMMD_node_timer_elapsed(3), CMMD_node_timer_elapsed(3), "time stands");
    check(CMMD_node_timer_busy(3) + CMMD_node_timer_idle(3) >= 0, "shares");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamCmmd, test::cells_of<CmamCmmd>(), test::name_of);

}  // namespace cmam_cmmd_test
