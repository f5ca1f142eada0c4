// Clauses 1 and 2 of the contract: what was accepted is delivered exactly once, and in order between two nodes at one priority, unless
// it was sent unordered; under random loads, from several senders, in all sizes, to oneself, in a job of 64 nodes. Ordered ones keep
// their order whatever passes between them; where a network mixes unordered ones they are seen to overtake.

#include "support/job.hpp"

namespace delivery_test {

using namespace test;
using Delivery = test::OnEveryNetwork;
using DeliveryToManyNodes = test::OnManyNodes;
using Unordered = test::OnEverySubstrate;
/// For bodies that ask for faults themselves.
using MixingNetworks = test::OnFaultlessSubstrates;

/// The numbers of the messages from one node at one priority: each kind has its own.
struct Came {
  std::uint64_t ordered = 0;
  std::vector<bool> unordered{};
  std::uint64_t unordered_count = 0;
  std::uint64_t sent_before = 0;  // what the last ordered one says of unordered ones
  std::uint64_t overtaken = 0;    // unordered ones that came behind an ordered one that was sent later

  /// `other`: how many of the other kind had been sent before.
  void take(bool is_unordered, std::uint64_t number, std::uint64_t other) {
    if (!is_unordered) {
      sent_before = other;
      return check_equal(number, ordered++, "the number of an ordered message");
    }
    if (unordered.size() <= number) unordered.resize(number + 1);
    check(!unordered[number], "an unordered message comes twice");
    unordered[number] = true;
    ++unordered_count;
    overtaken += other < ordered ? 1 : 0;
  }
};

struct Load {
  std::array<std::vector<Came>, 2> from;  // by priority, then sender
  am::NodeId finished = 0;
  explicit Load(const am::Node& node)
      : from{std::vector<Came>(node.size()), std::vector<Came>(node.size())} {}
};

void check_payload(am::Payload payload, std::uint64_t size, std::uint64_t number) {
  check_equal(payload.size(), size, "the size of a payload");
  const bool right =
      std::ranges::all_of(payload.bytes(), [&](std::byte b) { return b == std::byte(number); });
  check(right, "a byte of the payload is wrong");
}
void low(am::Request& request, bool unordered, std::uint64_t number, std::uint64_t other) {
  request.state<Load>().from[0][request.from()].take(unordered, number, other);
}
void low_payload(am::Request& request, bool unordered, std::uint64_t number, std::uint64_t other,
                 std::uint64_t size, am::Payload payload) {
  low(request, unordered, number, other);
  check_payload(payload, size, number);
}
void high(am::Reply& reply, bool unordered, std::uint64_t number, std::uint64_t other) {
  reply.state<Load>().from[1][reply.from()].take(unordered, number, other);
}
void high_payload(am::Reply& reply, bool unordered, std::uint64_t number, std::uint64_t other,
                  std::uint64_t size, am::Payload payload) {
  high(reply, unordered, number, other);
  check_payload(payload, size, number);
}
void finished(am::Request& request) { ++request.state<Load>().finished; }

enum class Kinds : std::uint8_t { ordered, both };

/// To one node at one priority.
struct Sender {
  am::NodeId to;
  am::Priority priority;
  std::uint64_t ordered = 0;
  std::uint64_t unordered = 0;

  [[nodiscard]] std::uint64_t sent() const { return ordered + unordered; }

  /// One message, by any of the ways that exist; its payload none, small, or around and beyond a packet.
  void send(am::Node& node, Kinds kinds, Random& random) {
    constexpr std::size_t longest_unordered = am::impl::packet_payload_bytes;
    const std::uint64_t dice = random.below(64);
    const std::size_t size = dice < 44 ? 0
                                       : 1 + random.below(dice < 56   ? 200
                                                          : dice < 61 ? longest_unordered
                                                                      : 3000);
    const bool asked = kinds == Kinds::both && random.one_in(2);
    const bool waits = random.one_in(2);
    const bool mixes = asked && size <= longest_unordered;  // a long one goes in order
    const std::uint64_t number = mixes ? unordered : ordered;
    const std::uint64_t other = mixes ? ordered : unordered;
    const std::vector<std::byte> bytes(size, std::byte(number));
    const auto send_to = [&](auto where) {
      return size == 0 ? test::send<low, high>(node, priority, waits, where, mixes, number, other)
                       : test::send<low_payload, high_payload>(node, priority, waits, where, mixes, number,
                                                               other, size, bytes);
    };
    if (asked) {
      check_ok(send_to(am::unordered(to)));
    } else if (!random.one_in(3)) {
      check_ok(send_to(to));
    } else {
      am::Draft draft = priority == am::Priority::low
                            ? node.prepare<low_payload>(to, size, mixes, number, other, size)
                            : node.prepare<high_payload>(to, size, mixes, number, other, size);
      std::ranges::copy(bytes, draft.data().begin());
      check_ok(draft.commit());
    }
    ++(mixes ? unordered : ordered);
  }
};

/// All to all.
void exchange(am::Node& node, const Load& load, Kinds kinds, std::uint64_t messages) {
  Random random(mix(test::seed(), node.id()));
  std::vector<Sender> senders;
  for (am::NodeId to = 0; to < node.size(); ++to) {
    senders.push_back({to, am::Priority::low});
    senders.push_back({to, am::Priority::high});
  }
  std::uint64_t left = messages * senders.size();
  while (left != 0) {
    Sender& sender = senders[random.below(senders.size())];
    for (std::uint64_t burst = 1 + random.below(32); burst != 0 && sender.sent() != messages; --burst, --left)
      sender.send(node, kinds, random);
    if (random.one_in(8)) node.poll();
  }
  const auto all_came = [&] {
    return std::ranges::all_of(load.from, [&](const auto& by_sender) {
      return std::ranges::all_of(
          by_sender, [&](const Came& came) { return came.ordered + came.unordered_count == messages; });
    });
  };
  for (am::NodeId to = 0; to < node.size(); ++to) check_ok(node.request<finished>(to));
  node.wait_until([&] { return load.finished == node.size() && all_came(); });
  node.barrier();
  node.poll();
  const am::CriticalSection quiet(node);
  check(all_came(), "after a last look there are as many");
}

TEST_P(Delivery, ExactlyOnceAndInOrderToOthersAndOneself) {
  const auto messages = [](std::uint64_t all) {
    return [all](am::Node& node, const Load& load) { exchange(node, load, Kinds::ordered, rounds(all)); };
  };
  run<Load>(1, messages(100'000));
  run<Load>(2, messages(30'000));
  run<Load>(5, messages(3'000));
}

TEST_P(DeliveryToManyNodes, GetEachMessageOnceAndInOrder) {
  run<Load>(64, [](am::Node& node, const Load& load) { exchange(node, load, Kinds::ordered, rounds(20)); });
}

INSTANTIATE_TEST_SUITE_P(Contract, Delivery, test::cells_of<Delivery>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, DeliveryToManyNodes, test::cells_of<DeliveryToManyNodes>(), test::name_of);

TEST_P(Unordered, ExactlyOnceAmongOrderedOnesThatKeepTheirOrder) {
  run<Load>(1, [](am::Node& node, const Load& load) { exchange(node, load, Kinds::both, rounds(30'000)); });
  run<Load>(3, [](am::Node& node, const Load& load) { exchange(node, load, Kinds::both, rounds(5'000)); });
}

/// Each ball is answered in all ways that handlers have.
struct Balls {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
void last_high(am::Reply& reply) { ++reply.state<Balls>().high; }
void last_low(am::Request& request) { ++request.state<Balls>().low; }
void back(am::Reply& reply, std::uint64_t n) {
  ++reply.state<Balls>().high;
  const am::UnorderedTo peer = am::unordered(reply.from());
  // A reply handler must not wait, so it posts what finds no room.
  if (reply.try_request<last_low>(peer) != am::Status::ok)
    reply.post([peer](am::Node& node) { check_ok(node.request<last_low>(peer)); });
  if (n % 2 == 0 && reply.try_reply_to<last_high>(peer) != am::Status::ok)
    reply.post([peer](am::Node& node) { check_ok(node.reply_to<last_high>(peer)); });
}
void ball(am::Request& request, std::uint64_t n, am::Payload payload) {
  ++request.state<Balls>().low;
  check_payload(payload, n % 300, n);
  const am::UnorderedTo peer = am::unordered(request.from());
  check_ok(request.reply_to<back>(peer, n), "a reply that waits");
  if (request.try_reply_to<last_high>(peer) != am::Status::ok)
    check_ok(request.reply_to<last_high>(peer), "a reply that waits");
  if (request.try_request<last_low>(peer) != am::Status::ok)
    request.post([peer](am::Node& node) { check_ok(node.request<last_low>(peer)); });
}

TEST_P(Unordered, FromHandlersOfBothLevels) {
  run<Balls>(2, [](am::Node& node, Balls& balls) {
    const std::uint64_t messages = 2 * rounds(3'000);
    const am::NodeId peer = 1 - node.id();
    for (std::uint64_t n = 0; n < messages; ++n) {
      const std::vector<std::byte> bytes(n % 300, std::byte(n));
      check_ok(node.request<ball>(am::unordered(peer), n, bytes));
    }
    // Low ones: the peer's balls, what its handlers of mine send back, and what its handlers of replies do.
    const std::uint64_t low = 3 * messages;
    const std::uint64_t high = 2 * messages + messages / 2;
    node.wait_until([&] { return balls.low == low && balls.high == high; });
    node.barrier();
    node.poll();
    const am::CriticalSection quiet(node);
    check(balls.low == low && balls.high == high, "after a last look there are as many");
  });
}

TEST_P(Unordered, AFullNetworkSaysSoAndLosesNothing) {
  run<Load>(2, [](am::Node& node, Load& load) {
    if (node.id() == 0) {
      const std::uint64_t accepted = test::fill([&](std::uint64_t number) {
        return node.try_request<low>(am::unordered(1), true, number, std::uint64_t{0});
      });
      check_ok(node.reply_to<high>(am::unordered(1), true, std::uint64_t{0}, std::uint64_t{0}),
               "high gets through");
      check_ok(node.request<low>(am::unordered(1), true, accepted, std::uint64_t{0}),
               "a send that waits for room");
      check_ok(node.reply_to<high>(1, false, std::uint64_t{0}, accepted + 1));
    } else {
      node.enable_event(am::Event::low_message, false);
      const Came& high = load.from[1][0];
      node.wait_until([&] { return high.unordered_count == 1; });
      node.enable_event(am::Event::low_message, true);
      const Came& low = load.from[0][0];
      node.wait_until([&] { return high.ordered == 1 && low.unordered_count == high.sent_before; });
    }
    node.barrier();
  });
}

// Its place in the network is taken, on most of them.
TEST_P(Unordered, WaitsBehindADraft) {
  run<Load>(1, [](am::Node& node, Load& load) {
    am::Draft draft =
        node.prepare<low_payload>(0, 10, false, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{10});
    std::ranges::fill(draft.data(), std::byte{0});
    check(node.try_request<low>(am::unordered(0), true, std::uint64_t{0}, std::uint64_t{1}) ==
              am::Status::again,
          "a send while a draft is held");
    check_ok(draft.commit());
    check_ok(node.request<low>(am::unordered(0), true, std::uint64_t{0}, std::uint64_t{1}),
             "a send when it is not");
    const Came& came = load.from[0][0];
    node.wait_until([&] { return came.ordered == 1 && came.unordered_count == 1; });
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Unordered, test::cells_of<Unordered>(), test::name_of);

std::string seeded(const char* plan) {
  return "seed=" + std::to_string(test::seed() % 1'000'000) + "," + plan;
}

// All are under way before the first is taken: of ten some are given late, behind ordered ones. (By one seed of 10^10 none is.)
TEST_P(MixingNetworks, AreSeenToMix) {
  const test::Environment faults("AM_FAULTS", seeded("reorder=0.9"));
  run<Load>(1, [](am::Node& node, Load& load) {
    node.barrier();
    constexpr std::uint64_t messages = 10;  // of each kind: together fewer than any network takes
    {
      const am::CriticalSection quiet(node);
      for (std::uint64_t n = 0; n < messages; ++n) {
        check_ok(node.try_request<low>(am::unordered(0), true, n, n));
        check_ok(node.try_request<low>(0, false, n, n + 1));
        check_ok(node.try_reply_to<high>(am::unordered(0), true, n, n));
        check_ok(node.try_reply_to<high>(0, false, n, n + 1));
      }
    }
    for (const auto& by_sender : load.from) {
      const Came& came = by_sender[0];
      node.wait_until([&] { return came.ordered == messages && came.unordered_count == messages; });
      const am::CriticalSection quiet(node);
      check(came.overtaken != 0, "an unordered message was overtaken");
    }
  });
}

// A node that leaves drops what comes for it, an unordered message between the pieces of a long one, too. (Refused so often it
// goes in many pieces.)
TEST_P(MixingNetworks, ANodeMayLeaveMeanwhile) {
  const test::Environment faults("AM_FAULTS", seeded("reorder=0.5,refuse=0.9"));
  run<Load>(1, [](am::Node& node, Load&) {
    const std::vector<std::byte> bytes(50'000);
    const auto insist = [](auto try_to_send) {
      while (try_to_send() != am::Status::ok) {
      }
    };
    for (std::uint64_t n = 0; n < 10; ++n)
      insist([&] { return node.try_request<low>(am::unordered(0), true, n, std::uint64_t{0}); });
    insist([&] {
      return node.try_request<low_payload>(0, false, std::uint64_t{0}, std::uint64_t{10}, bytes.size(),
                                           bytes);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, MixingNetworks, test::cells_of<MixingNetworks>(), test::name_of);

}  // namespace delivery_test
