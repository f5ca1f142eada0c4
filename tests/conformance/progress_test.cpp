// Clause 10 of the contract: what makes progress (poll, waits, sends that wait, barriers) and that nothing else does; and
// that a node that waits wakes up, however long it slept. Barriers make progress in collectives_test.cpp, and sends that wait in
// networks_test.cpp, where all send before any polls.

#include "support/job.hpp"

namespace progress_test {

using namespace test;
using Progress = test::OnEverySubstrate;

struct Runs {
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
};
void low(am::Request& request) { ++request.state<Runs>().lows; }
void high(am::Reply& reply) { ++reply.state<Runs>().highs; }
void ping(am::Request& request) {
  ++request.state<Runs>().lows;
  check_ok(request.reply<high>());
}

TEST(ProgressAlone, NothingRunsOutsideOfIt) {
  test::run_alone<Runs>([](am::Node& node, Runs& runs) {
    int timelets = 0;
    int posts = 0;
    node.on_timelet(node.count(), [&](am::LowEvent&) { ++timelets; });
    node.post([&](am::Node&) { ++posts; });
    for (int i = 0; i < 20; ++i) {
      check_ok(node.try_request<low>(0));
      check_ok(node.try_reply_to<high>(0));
      check_ok(node.request<low>(0), "a waiting send that has room need not poll");
      { const am::CriticalSection quiet(node); }
      static_cast<void>(node.count());
      check_equal(timelets + posts, 0, "events outside of progress");
    }
    check_equal(runs.lows + runs.highs, 0u, "handlers outside of progress");
    poll_until_quiet(node);
    check_equal(runs.lows + runs.highs, 60u, "handlers after the polls");
    check_equal(timelets + posts, 2, "events after the polls");
  });
}

// Everybody sleeps but one, who wakes another in turn: a lost wake-up would show as a hang, or as a nap of 16 ms each.
TEST_P(Progress, SleepersWake) {
  struct Token {
    std::uint64_t hops = 0;
  };
  run<Token>(6, [](am::Node& node, const Token& token) {
    constexpr auto hop = [](am::Request& request, std::uint64_t hops) { request.state<Token>().hops = hops; };
    const std::uint64_t laps = rounds(500);
    if (node.id() == 0) check_ok(node.request<hop>(1, std::uint64_t{1}));
    for (std::uint64_t lap = 0; lap < laps; ++lap) {
      const std::uint64_t mine = lap * node.size() + (node.id() == 0 ? node.size() : node.id());
      node.wait_until([&] { return token.hops == mine; });
      if (node.id() != 0 || lap + 1 < laps)
        check_ok(node.request<hop>((node.id() + 1) % node.size(), mine + 1));
    }
    node.barrier();
  });
}

// While a watchdog looks: it reads what nodes write, and changes nothing.
TEST_P(Progress, OfAllKindsIsAsUsualWhenItIsWatched) {
  const test::Environment watched("AM_WATCHDOG", "40ms");
  struct Taken {
    std::uint64_t requests = 0;
    std::uint64_t replies = 0;
    std::uint64_t bytes = 0;
    std::uint64_t posts = 0;
    void ask(am::Request& request, am::Payload payload) {
      ++requests;
      bytes += payload.size();
      check_ok(request.reply<&Taken::answer>());
    }
    void answer(am::Reply&) { ++replies; }
  };
  run<Taken>(3, [](am::Node& node, Taken& taken) {
    const std::uint64_t times = rounds(300);
    for (std::uint64_t i = 0; i < times; ++i) {
      node.post([&](am::Node&) { ++taken.posts; });
      for (am::NodeId to = 0; to < node.size(); ++to)
        check_ok(node.request<&Taken::ask>(to, std::vector<std::byte>(i % 3 == 0 ? 3000 : 0)));
      node.wait_until([&] { return taken.replies == 3 * (i + 1); });
      node.barrier();
    }
    check_equal(taken.requests, 3 * times, "requests");
    check_equal(taken.bytes, 3 * 3000 * ((times + 2) / 3), "bytes");
    check_equal(taken.posts, times, "posts");
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Progress, test::cells_of<Progress>(), test::name_of);

}  // namespace progress_test
