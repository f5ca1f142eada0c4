// Timelets (clause 6): a function that runs at a time, as a low event. Never before its time, once, in the order of the
// times; several may wait, one may be cancelled, a masked one waits.

#include "support/job.hpp"

namespace timelets_test {

using namespace test;
using Timelets = test::OnANode;
using TimeletsOfAJob = test::OnEverySubstrate;

constexpr am::Count millisecond = 1'000'000;

TEST_P(Timelets, RunOnceAndNotBeforeTheirTime) {
  run(2, [](am::Node& node) {
    for (const am::Count delay : {am::Count{0}, millisecond / 100, millisecond, 5 * millisecond}) {
      const am::Count when = node.count() + delay;
      int ran = 0;
      node.on_timelet(when, [&](am::LowEvent& event) {
        ++ran;
        check(event.node().count() >= when, "a timelet ran before its time");
      });
      node.wait_until([&] { return ran != 0; });
      poll_until_quiet(node);
      check_equal(ran, 1, "runs of a timelet");
    }
    node.barrier();
  });
}

TEST_P(Timelets, InOrderOfTheirTimesAndThenOfAsking) {
  run(2, [](am::Node& node) {
    test::Random random(test::mix(test::seed(), node.id()));
    using Asked = std::pair<am::Count, int>;
    std::vector<Asked> ran;
    std::vector<Asked> asked;
    const am::Count now = node.count();
    for (int i = 0; i < 500; ++i) asked.emplace_back(now + random.below(100) * (millisecond / 33), i);
    for (const Asked& one : asked)
      node.on_timelet(one.first, [&ran, one](am::LowEvent&) { ran.push_back(one); });
    node.wait_until([&] { return ran.size() == asked.size(); });
    std::ranges::sort(asked);
    check(ran == asked, "timelets ran in another order");
    node.barrier();
  });
}

TEST_P(Timelets, MayAskForOthersAndCancelThem) {
  run(1, [](am::Node& node) {
    int ran = 0;
    bool cancelled_ran = false;
    const am::TimeletId victim =
        node.on_timelet(node.count() + 1'000'000 * millisecond, [&](am::LowEvent&) { cancelled_ran = true; });
    std::function<void(am::LowEvent&)> again = [&](am::LowEvent& event) {
      if (++ran == 1) check(event.node().cancel_timelet(victim), "it was waiting");
      if (ran < 1000) event.node().on_timelet(event.node().count(), again);
    };
    node.on_timelet(node.count(), again);
    node.wait_until([&] { return ran == 1000; });
    check(!cancelled_ran, "a cancelled timelet ran");
  });
}

// A sleeping node wakes for its timelet: nobody else would wake it.
TEST_P(TimeletsOfAJob, WakeANodeThatWaits) {
  run(2, [](am::Node& node) {
    int ran = 0;
    node.on_timelet(node.count() + 30 * millisecond, [&](am::LowEvent&) { ++ran; });
    node.wait_until([&] { return ran == 1; });
    node.barrier();
  });
}

struct Clock {
  std::uint64_t told = 0;
};
void tell(am::Request& request, am::Count sent) {
  ++request.state<Clock>().told;
  const bool one_machine = request.node().engine().board().is_here(request.from());
  check(!one_machine || request.node().count() >= sent, "a message arrived before it was sent");
}

// All nodes of a machine share one Count: cause comes before effect.
TEST_P(TimeletsOfAJob, CountNeverRunsBackwardsBetweenNodes) {
  run<Clock>(3, [](am::Node& node, const Clock& clock) {
    am::Count last = 0;
    const std::uint64_t messages = test::rounds(2000);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const am::Count now = node.count();
      check(now >= last, "Count ran backwards");
      last = now;
      check_ok(node.request<tell>((node.id() + 1) % node.size(), now));
    }
    node.wait_until([&] { return clock.told == messages; });
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Timelets, test::cells_of<Timelets>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, TimeletsOfAJob, test::cells_of<TimeletsOfAJob>(), test::name_of);

}  // namespace timelets_test
