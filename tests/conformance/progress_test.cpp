// Clause 10 of the contract: what makes progress (poll, waits, sends that wait, barriers) and that nothing else does; and
// that whoever waits wakes up, however long it slept.
#include <algorithm>
#include <vector>

#include "support/job.hpp"

namespace progress_test {

using test::check;
using test::check_equal;
using test::rounds;
using Progress = test::OnEverySubstrate;

struct Runs {
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
};
void low(am::Request& request) { ++request.state<Runs>().lows; }
void high(am::Reply& reply) { ++reply.state<Runs>().highs; }
void ping(am::Request& request) {
  ++request.state<Runs>().lows;
  check(request.reply<high>() == am::Status::ok, "reply");
}

TEST(ProgressAlone, NothingRunsOutsideOfIt) {
  test::run_alone([](am::Node& node) {
    Runs runs;
    node.attach(runs);
    int timelets = 0;
    int posts = 0;
    node.on_timelet(node.count(), [&](am::LowEvent&) { ++timelets; });
    node.post([&](am::Node&) { ++posts; });
    for (int i = 0; i < 20; ++i) {
      check(node.try_request<low>(0) == am::Status::ok, "request");
      check(node.try_reply_to<high>(0) == am::Status::ok, "reply_to");
      check(node.request<low>(0) == am::Status::ok, "a waiting send that has room need not poll");
      { const am::CriticalSection quiet(node); }
      static_cast<void>(node.count());
      check_equal(timelets + posts, 0, "events outside of progress");
    }
    check_equal(runs.lows + runs.highs, 0u, "handlers outside of progress");
    while (node.poll() != 0) {
    }
    check_equal(runs.lows + runs.highs, 60u, "handlers after the polls");
    check_equal(timelets + posts, 2, "events after the polls");
  });
}

TEST_P(Progress, BarrierRunsHandlers) {
  run(3, [](am::Node& node) {
    Runs runs;
    node.attach(runs);
    // Node 0 comes to the barrier only after the others, which are in it, have answered.
    if (node.id() == 0) {
      check(node.request<ping>(1) == am::Status::ok, "request");
      check(node.request<ping>(2) == am::Status::ok, "request");
      node.wait_until([&] { return runs.highs == 2; });
    }
    node.barrier();
    check_equal(runs.lows, node.id() == 0 ? 0u : 1u, "requests that ran in the barrier");
    node.barrier();
  });
}

TEST_P(Progress, WaitingSendsRunHandlers) {
  run(2, [](am::Node& node) {
    Runs runs;
    node.attach(runs);
    // Both send at once, more than fits, and neither polls by itself.
    const std::uint64_t messages = std::max<std::uint64_t>(rounds(50'000), 20'000);
    for (std::uint64_t i = 0; i < messages; ++i)
      check(node.request<ping>(1 - node.id()) == am::Status::ok, "request");
    {
      const am::CriticalSection quiet(node);
      check(runs.lows > 0, "handlers ran inside the sends");
    }
    node.wait_until([&] { return runs.lows == messages && runs.highs == messages; });
    node.barrier();
  });
}

TEST_P(Progress, BarriersDoNotOvertakeEachOther) {
  run(5, [](am::Node& node) {
    struct Phase {
      std::uint64_t now = 0;
      std::uint64_t told = 0;
    } phase;
    node.attach(phase);
    constexpr auto tell = [](am::Request& request, std::uint64_t sent) {
      auto& its = request.state<Phase>();
      ++its.told;
      check(sent <= its.now + 1, "a node is more than one barrier ahead");
    };
    for (std::uint64_t i = 0; i < rounds(500); ++i) {
      {
        const am::CriticalSection quiet(node);
        phase.now = i;
      }
      check(node.request<tell>((node.id() + 1) % node.size(), i) == am::Status::ok, "request");
      node.barrier();
      node.poll();
    }
    node.wait_until([&] { return phase.told == rounds(500); });
    node.barrier();
  });
}

// Everybody sleeps but one, who wakes another in turn: a lost wake-up would show as a hang, or as a nap of 16 ms each.
TEST_P(Progress, SleepersWake) {
  run(6, [](am::Node& node) {
    struct Token {
      std::uint64_t hops = 0;
    } token;
    node.attach(token);
    constexpr auto hop = [](am::Request& request, std::uint64_t hops) { request.state<Token>().hops = hops; };
    const std::uint64_t laps = rounds(500);
    if (node.id() == 0) check(node.request<hop>(1, std::uint64_t{1}) == am::Status::ok, "request");
    for (std::uint64_t lap = 0; lap < laps; ++lap) {
      const std::uint64_t mine = lap * node.size() + (node.id() == 0 ? node.size() : node.id());
      node.wait_until([&] { return token.hops == mine; });
      if (node.id() != 0 || lap + 1 < laps)
        check(node.request<hop>((node.id() + 1) % node.size(), mine + 1) == am::Status::ok, "request");
    }
    node.barrier();
  });
}

TEST_P(Progress, ManyPeersThatTalkSeldom) {
  run(24, [](am::Node& node) {
    Runs runs;
    node.attach(runs);
    test::Random random(test::mix(test::seed(), node.id()));
    const std::uint64_t messages = rounds(400);
    std::vector<std::uint64_t> sent(node.size());
    for (std::uint64_t i = 0; i < messages; ++i) {
      const auto to = static_cast<am::NodeId>(random.below(node.size()));
      const std::uint64_t before = runs.highs;
      check(node.request<ping>(to) == am::Status::ok, "request");
      node.wait_until([&] { return runs.highs > before; });
    }
    node.barrier();
    check_equal(runs.highs, messages, "answers");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Progress, test::cells_of<Progress>(), test::name_of);

}  // namespace progress_test
