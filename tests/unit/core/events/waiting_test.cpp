// How long a node that waits polls before it lets others have the processor.
#include <gtest/gtest.h>

#include <am/impl/waiter.hpp>
#include <cstdint>

#include "host/clock.hpp"
#include "support/job.hpp"

namespace am::impl {
namespace waiting_test {

using test::check;

/// Polls in vain before the node sleeps, each of which takes so long.
int polls_before_sleep(Waiter& waiter, std::uint64_t poll_ns) {
  int polls = 0;
  for (; !waiter.sleeps_next(); ++polls) {
    const std::uint64_t end = host::monotonic_ns() + poll_ns;
    while (host::monotonic_ns() < end) {
    }
    waiter.idle();
  }
  return polls;
}

// By polls that it counts alone it would spin for a second: two jobs of an emulated network on two processors, whose windows
// are a few messages long, took turns of 1 ms, and were a hundred times slower than one.
TEST(Waiter, SpinsNoLongerWherePollsTakeLonger) {
  test::run_job({test::Nodes::threads}, 1, [](Node& node) {
    Waiter waiter(node.engine(), "a test");
    constexpr int enough = 300;  // two looks at the clock, and as many yields as there are
    check(polls_before_sleep(waiter, 100'000) <= enough, "spins by the clock");
    waiter.worked();
    const int polls = polls_before_sleep(waiter, 100'000);
    check(polls <= enough, "and again, after something happened");
    check(polls > 64, "from then on");
  });
}

}  // namespace waiting_test
}  // namespace am::impl
