// Deadlock of multicasts, and how they get out of it: criteria CA-13 to CA-16, CA-18 and C-3 (Byrd, Nakano and Delagi 1987, 3.4, 4.1, Figure 4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "emulated_hw/care/figures.hpp"

namespace am::care::deadlock_test {

/// CA-13 [V], C-3: A has the local net-output of one site, B that of the other. Without timeouts nothing moves any more: the circle is named.
TEST(CareDeadlock, OfFigure4StandsStillWithoutTimeouts) {
  Deadlock both({Timeouts::Kind::off, 1}, 1);
  EXPECT_THAT([&] { both.machine.run_or_throw([&] { return both.machine.is_empty(); }, 500); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  testing::StartsWith("care: nothing has moved for "),
                  testing::HasSubstr("cycles:\na circle: packet 1 -> packet 2 -> packet 1\n"),
                  testing::HasSubstr("packet 1 at site 2 seeks a net-output towards site 2\n"),
                  testing::HasSubstr("packet 2 at site 1 seeks a net-output towards site 1\n"))));
  EXPECT_EQ(both.machine.site(1).outputs[local].packet(), both.a);
  EXPECT_EQ(both.machine.site(2).outputs[local].packet(), both.b);
  EXPECT_EQ(Machine(kit::Grid{{2}}).who_waits(), "nothing is under way\n");
}

/// CA-13, CA-15, CA-16: with them at least one is aborted, retransmitted by the site that aborted, and all are delivered once.
TEST(CareDeadlock, OfFigure4IsResolvedByTimeouts) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Deadlock both({Timeouts::Kind::random, 64}, seed);
    both.machine.run_or_throw([&] { return both.machine.is_empty(); });
    EXPECT_GE(both.machine.counts().aborts, 1u);
    EXPECT_GE(both.machine.counts().retransmissions, 1u);
    for (const NodeNumber site : {1u, 2u}) {
      const auto& delivered = both.machine.delivered(site);
      EXPECT_EQ(delivered.size(), 2u);
      for (const PacketNumber packet : {both.a, both.b})
        EXPECT_EQ(std::ranges::count(delivered, packet, &Operator::Delivery::packet), 1);
    }
  }
}

/// CA-15: the hypothesis that equal timeouts abort and retry in step for ever, and random ones do not, holds for the symmetric case; the limit
/// of timeouts, which is assumed, is swept.
TEST(CareDeadlock, EqualTimeoutsRetryInStepForEver) {
  for (const Cycle limit : {16u, 64u, 256u}) {
    for (const auto kind : {Timeouts::Kind::equal, Timeouts::Kind::pads}) {
      const Recovery equal = recovery({kind, limit}, 1);
      EXPECT_FALSE(equal.both_delivered) << limit;
      EXPECT_GT(equal.aborts, 100u);
    }
    std::uint64_t aborts = 0;
    Cycle cycles = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Recovery random = recovery({Timeouts::Kind::random, limit}, seed);
      EXPECT_TRUE(random.both_delivered) << limit;
      aborts += random.aborts;
      cycles += random.cycles;
    }
    RecordProperty("limit " + std::to_string(limit),
                   std::to_string(aborts) + " aborts, " + std::to_string(cycles) + " cycles of 20");
    EXPECT_LT(aborts, 20u * 20);
  }
}

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
