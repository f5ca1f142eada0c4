// Clauses 3, 4 and 5 of the contract: two networks of which the high one gets through however full the low one is; a full
// network answers `again`, takes the next message after one was taken out, and lets nothing overtake; what a sender may
// leave unread at a peer is bounded; and no load deadlocks as long as everybody keeps to the rules.
#include <am/collectives.hpp>

#include "support/job.hpp"

namespace networks_test {

using namespace test;
using Networks = test::OnEverySubstrate;

struct Seen {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool low_full = false;
  bool go = false;
  bool last_low = false;
  bool last_high = false;
};

void take_low(am::Request& request, std::uint64_t number) {
  check_equal(number, request.state<Seen>().low++, "the number of a request");
}
void take_low_payload(am::Request& request, std::uint64_t number, am::Payload) {
  check_equal(number, request.state<Seen>().low++, "the number of a request with a payload");
}
void take_high(am::Reply& reply, std::uint64_t number) {
  check_equal(number, reply.state<Seen>().high++, "the number of a reply");
}
void low_is_full(am::Reply& reply) { reply.state<Seen>().low_full = true; }
void go(am::Reply& reply) { reply.state<Seen>().go = true; }
/// Behind all others of its sender: nothing comes any more when the receiver leaves.
void last_low(am::Request& request, std::uint64_t before) {
  check_equal(request.state<Seen>().low, before, "requests before the last");
  request.state<Seen>().last_low = true;
}
void last_high(am::Reply& reply) { reply.state<Seen>().last_high = true; }

struct ManySenders {
  std::array<std::uint64_t, 64> next{};  // by sender
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
};
void take_one_of_many(am::Request& request, std::uint64_t number, am::Payload) {
  auto& seen = request.state<ManySenders>();
  check_equal(number, seen.next[request.from()]++, "the number of a request");
  ++seen.lows;
}
void high_of_many(am::Reply& reply) { ++reply.state<ManySenders>().highs; }

std::uint64_t fill_low(am::Node& node, am::NodeId to) {
  return test::fill([&](std::uint64_t number) { return node.try_request<take_low>(to, number); });
}

TEST_P(Networks, HighPassesWhenLowIsFull) {
  run<Seen>(2, [](am::Node& node, Seen& seen) {
    constexpr std::uint64_t replies = 2000;  // many times what the high network holds
    if (node.id() == 0) {
      const std::uint64_t accepted = fill_low(node, 1);
      for (std::uint64_t i = 0; i < replies; ++i) check_ok(node.reply_to<take_high>(1, i));
      check(node.try_request<take_low>(1, accepted) == am::Status::again, "low is as full as before");
      check_ok(node.reply_to<low_is_full>(1));
      node.wait_until([&] { return seen.go; });
      check_ok(node.request<take_low>(1, accepted), "low has room again");
      check_ok(node.request<last_low>(1, accepted + 1));
    } else {
      node.enable_event(am::Event::low_message, false);
      node.wait_until([&] { return seen.low_full; });
      check_equal(seen.high, replies, "replies");
      check_equal(seen.low, 0u, "requests while they are masked");
      node.enable_event(am::Event::low_message, true);
      check_ok(node.reply_to<go>(0));
      node.wait_until([&] { return seen.last_low; });
    }
    node.barrier();
    node.poll();
  });
}

// Whoever fills the low network, and however many: what they send at high priority behind that comes.
TEST_P(Networks, HighPassesHoweverManyFillLow) {
  if (GetParam().network->name == "ofi_shm")
    GTEST_SKIP() << "more letters than it has room for lie unread (libfabric 1.17): the node says so, and "
                    "loses the others";
  // Over libfabric's net the receive buffers run out only then, which once left a part of the senders' letters lying.
  const am::NodeId nodes = GetParam().network->name == "ofi_net" ? 60 : 24;
  run<ManySenders>(nodes, [](am::Node& node, ManySenders& seen) {
    if (node.id() == 0) node.enable_event(am::Event::low_message, false);
    node.barrier();
    std::uint64_t sent = 0;
    if (node.id() == 0) {
      node.wait_until([&] { return seen.highs == node.size() - 1u; });
      check_equal(seen.lows, 0u, "requests while they are masked");
      node.enable_event(am::Event::low_message, true);
    } else {
      static constexpr std::array<std::byte, 900> bytes{};
      sent = test::fill([&](std::uint64_t number) {
        return node.try_request<take_one_of_many>(0, number, am::Payload(bytes));
      });
      check_ok(node.reply_to<high_of_many>(0));
    }
    const std::uint64_t all = am::all_reduce(node, sent, std::plus<>());
    if (node.id() == 0) node.wait_until([&] { return seen.lows == all; });
    node.barrier();
  });
}

TEST_P(Networks, EachPriorityIsBlockedByItselfOnly) {
  run<Seen>(2, [](am::Node& node, Seen& seen) {
    std::uint64_t requests = 0;
    if (node.id() == 0) {
      test::fill([&](std::uint64_t number) { return node.try_reply_to<take_high>(1, number); });
      requests = fill_low(node, 1);
      check(requests > 0, "the low network takes messages while the high one is full");
    }
    // Node 1 takes nothing before the barrier: else both networks might take messages for as long as node 0 sends.
    const auto enable = [&](bool enabled) {
      node.enable_event(am::Event::low_message, enabled);
      node.enable_event(am::Event::high_message, enabled);
    };
    enable(node.id() == 0);
    node.barrier();
    enable(true);
    if (node.id() == 0) {
      check_ok(node.request<last_low>(1, requests));
      check_ok(node.reply_to<last_high>(1));
    } else {
      node.wait_until([&] { return seen.last_low && seen.last_high; });
      check(seen.low > 0 && seen.high > 0, "both networks took messages");
    }
    node.barrier();
  });
}

TEST_P(Networks, AgainDoesNotOvertake) {
  run<Seen>(2, [](am::Node& node, Seen& seen) {
    const std::uint64_t messages = rounds(30'000);
    if (node.id() == 0) {
      test::Random random(test::seed());
      const std::array<std::byte, 1500> bytes{};
      for (std::uint64_t number = 0; number < messages; ++number) {
        // A refused message gives way to one of another size, which may fit: it takes the same number.
        check_ok(test::send_when_there_is_room(node, [&] {
          const std::uint64_t dice = random.below(4);
          return dice < 2 ? node.try_request<take_low_payload>(
                                1, number, am::Payload(bytes.data(), dice == 0 ? 1024 : 1500))
                          : node.try_request<take_low>(1, number);
        }));
      }
    } else {
      node.wait_until([&] { return seen.low == messages; });
    }
    node.barrier();
  });
}

// A request to each of many, each answered by a waiting reply, from everybody to everybody, with all rings full: the load
// that deadlocks where replies share their way with requests.
struct AllToAll {
  explicit AllToAll(const am::Node& node) : asked(node.size()), answered(node.size()) {}
  std::vector<std::uint64_t> asked;
  std::vector<std::uint64_t> answered;
  am::NodeId finished = 0;
};

void answer(am::Reply& reply, std::uint64_t number, std::uint64_t /*room*/) {
  auto& all = reply.state<AllToAll>();
  check_equal(number, all.answered[reply.from()]++, "the number of an answer");
}
void ask(am::Request& request, std::uint64_t number, std::uint64_t answers) {
  auto& all = request.state<AllToAll>();
  check_equal(number, all.asked[request.from()]++, "the number of a question");
  for (std::uint64_t i = 0; i < answers; ++i) check_ok(request.reply<answer>(number * answers + i, i));
}
void finished(am::Request& request) { ++request.state<AllToAll>().finished; }

TEST_P(Networks, AllToAllWithFullQueuesEnds) {
  run<AllToAll>(9, [](am::Node& node, AllToAll& all) {
    const std::uint64_t questions = rounds(1000);
    constexpr std::uint64_t answers = 4;  // to each
    for (std::uint64_t i = 0; i < questions; ++i) {
      for (am::NodeId k = 0; k < node.size(); ++k)
        check_ok(node.request<ask>((node.id() + k) % node.size(), i, answers));
    }
    const std::vector<std::uint64_t> all_answered(node.size(), questions * answers);
    node.wait_until([&] { return all.answered == all_answered; });
    for (am::NodeId to = 0; to < node.size(); ++to) check_ok(node.request<finished>(to));
    node.wait_until([&] { return all.finished == node.size(); });
    for (const std::uint64_t n : all.asked) check_equal(n, questions, "questions");
    node.barrier();
  });
}

// One node in no hurry, all others faster than it: nobody starves.
struct Fair {
  explicit Fair(const am::Node& node) : from(node.size()) {}
  std::vector<std::uint64_t> from;
  am::NodeId finished = 0;
  bool stop = false;
};
void tick(am::Request& request) { ++request.state<Fair>().from[request.from()]; }
void no_more(am::Request& request) { ++request.state<Fair>().finished; }
void stop(am::Reply& reply) { reply.state<Fair>().stop = true; }

TEST_P(Networks, NoSenderStarvesBehindAnother) {
  run<Fair>(4, [](am::Node& node, Fair& fair) {
    if (node.id() == 0) {
      node.wait_until([&] {
        return std::all_of(fair.from.begin() + 1, fair.from.end(), [](auto ticks) { return ticks >= 1000; });
      });
      for (am::NodeId to = 1; to < node.size(); ++to) check_ok(node.reply_to<stop>(to));
      node.wait_until([&] { return fair.finished == node.size() - 1; });
    } else {
      bool stop = false;
      while (!stop) {
        // Never a pause while the network takes something.
        for (int i = 0; i < 100; ++i) static_cast<void>(node.try_request<tick>(0));
        test::poll_or_yield(node);
        const am::CriticalSection quiet(node);
        stop = fair.stop;
      }
      check_ok(node.request<no_more>(0));
    }
    node.barrier();
  });
}

// In every mode: what is sent in a critical section waits until it ends, and no longer.
TEST_P(Networks, AFullNetworkIsEmptiedWhenTheSectionEnds) {
  run<Seen>(1, [](am::Node& node, Seen& seen) {
    node.barrier();
    for (int round = 0; round < 20; ++round) {
      std::uint64_t sent = 0;
      {
        const am::CriticalSection quiet(node);
        seen.low = 0;
        sent = fill_low(node, 0);
        check_equal(seen.low, 0u, "requests that ran in the section");
      }
      node.wait_until([&] { return seen.low == sent; });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Networks, test::cells_of<Networks>(), test::name_of);

// They count what fits into a ring, poll by poll: a network that refuses at random has other numbers.
using Capacity = test::OnSubstrates<test::Suite{.faults = false, .asynchronous = false}>;

// A node that talks to itself has the ring and the hand on it: every figure is exact.
TEST_P(Capacity, AgainWhenFullAndOkAfterOneRelease) {
  run<Seen>(1, [](am::Node& node, Seen& seen) {
    for (int round = 0; round < 50; ++round) {
      std::uint64_t sent = seen.low;
      while (node.try_request<take_low>(0, sent) == am::Status::ok) ++sent;
      check(sent > seen.low, "an empty network takes a message");
      check(node.try_request<take_low>(0, sent) == am::Status::again, "full is full");
      check(node.poll() > 0, "a poll takes messages out");
      check_ok(node.try_request<take_low>(0, sent), "there is room after a release");
      ++sent;
      node.wait_until([&] { return seen.low == sent; });
    }
    check(node.poll() == 0, "nothing is left");
  });
}

TEST_P(Capacity, RoomForOnePayloadComesBackWhateverWasSentBefore) {
  run<Seen>(1, [](am::Node& node, Seen& seen) {
    test::Random random(test::seed());
    const std::array<std::byte, 1024> bytes{};
    for (std::uint64_t round = 0; round < rounds(2000); ++round) {
      std::uint64_t sent = seen.low;
      for (;;) {
        const am::Status status =
            random.one_in(2)
                ? node.try_request<take_low>(0, sent)
                : node.try_request<take_low_payload>(0, sent, am::Payload(bytes.data(), random.below(1025)));
        if (status != am::Status::ok) break;
        ++sent;
      }
      while (node.try_request<take_low_payload>(0, sent, am::Payload(bytes.data(), bytes.size())) !=
             am::Status::ok)
        check(node.poll() > 0, "the network is full, so a poll takes something out");
      ++sent;
      node.wait_until([&] { return seen.low == sent; });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Capacity, test::cells_of<Capacity>(), test::name_of);

}  // namespace networks_test
