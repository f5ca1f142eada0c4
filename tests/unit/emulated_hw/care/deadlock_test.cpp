// Deadlock of multicasts where storage is little, and aborts at any moment: criteria CA-18 and CA-19 (Byrd, Nakano and Delagi 1987, 3.4, 4.1). That
// of Figure 4: tests/unit/tools/amsim_care_figures_test.cpp.
#include <gtest/gtest.h>

#include "emulated_hw/care/machine.hpp"

namespace am::care::deadlock_test {

/// CA-18 [V] (3.4, last paragraph): with little storage all of it becomes committed, timeouts or not: operators, too, are in the circle, and it is
/// said. With unbounded buffers the same load gets through.
TEST(CareDeadlock, AllStorageCommittedIsNotPreventedButNamed) {
  for (const bool bounded : {true, false}) {
    Options options{.timeouts = {Timeouts::Kind::random, 64}};
    if (bounded) options.buffer_size = 4, options.requests = 2;
    Machine machine(kit::Grid{{2}}, options);
    for (Cycle cycle = 0; cycle < 5000; ++cycle) {
      for (const NodeNumber node : {0u, 1u}) {
        if (machine.has_room(node) && machine.site(node).its_operator.requests().packets() < 4)
          machine.send(node, {{1 - node}, {node}}, std::vector<std::uint32_t>(20));
      }
      machine.step();
    }
    EXPECT_EQ(machine.run_until([&] { return machine.is_empty(); }, 1000), !bounded);
    if (!bounded) continue;
    const std::string waits = machine.who_waits();
    EXPECT_TRUE(waits.starts_with("a circle: ")) << waits;
    EXPECT_NE(waits.substr(0, waits.find('\n')).find("the operator of site "), std::string::npos) << waits;
    EXPECT_NE(waits.find("which it is to send again: all its storage is committed\n"), std::string::npos)
        << waits;
  }
}

/// CA-19: two multicasts on 2 x 2 sites, one of them later by any number of cycles, and abort-requests of any two fifo-buffers at any moments:
/// each target once, at both fidelities.
void abort_at_any_moment(Cycle stride) {
  constexpr NodeNumber nodes = 4;
  constexpr Cycle moments = 27;  // by then each has been delivered where nothing is aborted
  std::uint64_t aborts = 0, latest = 0;
  const auto run = [&](Fidelity fidelity, Cycle later, Cycle first, Cycle second) {
    Machine machine(kit::Grid{{2}, {2}}, {.fidelity = fidelity, .timeouts = {.limit = 500}});
    machine.send(0, {{3}, {1}, {2}}, {1, 2, 3});
    for (Cycle cycle = 0; cycle <= later || !machine.is_empty(); ++cycle) {
      ASSERT_LT(cycle, 20'000u) << machine.who_waits();
      if (cycle == later) machine.send(3, {{2}, {0}, {1}, {3}}, {4, 5, 6, 7});
      for (const Cycle one : {first, second}) {
        if (cycle == one / nodes) machine.site(one % nodes).upstream.expire();
      }
      machine.step();
    }
    aborts += machine.counts().aborts;
    if (machine.counts().abort_requests == 0) latest = std::max(latest, machine.now());
    for (NodeNumber node = 0; node < nodes; ++node) {
      const auto& delivered = machine.delivered(node);
      for (const PacketNumber packet : {1u, 2u})
        ASSERT_EQ(std::ranges::count(delivered, packet, &Operator::Delivery::packet),
                  node == 0 && packet == 1 ? 0 : 1)
            << node << ' ' << packet << ": " << later << ' ' << first << ' ' << second;
    }
  };
  for (const Fidelity fidelity : {Fidelity::words, Fidelity::two_events}) {
    for (Cycle later = 0; later < 12; later += 3) {
      for (Cycle first = 0; first < moments * nodes; ++first) {
        for (Cycle second = first; second < moments * nodes && !testing::Test::HasFatalFailure();
             second += stride)
          run(fidelity, later, first, second);
      }
    }
  }
  testing::Test::RecordProperty(
      "aborts", std::to_string(aborts) + ", without any over after " + std::to_string(latest));
  EXPECT_GT(aborts, 1000u);
}

TEST(CareDeadlock, AnAbortAtAnyMomentLosesAndDoublesNothing) { abort_at_any_moment(7); }
TEST(CareDeadlock, AnAbortAtAnyMomentLosesAndDoublesNothing_night) { abort_at_any_moment(1); }

}  // namespace am::care::deadlock_test
