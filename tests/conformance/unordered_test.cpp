// Clause 2 of the contract, unordered sends: delivered exactly once, as all others; the ordered ones keep their order whatever passes
// between them; and where a network mixes them they are seen to overtake.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/job.hpp"

namespace unordered_test {

using test::check;
using test::check_equal;
using test::mix;
using test::Random;
using test::rounds;
using Unordered = test::OnEverySubstrate;
/// For bodies that ask for faults themselves.
using MixingNetworks = test::OnFaultlessSubstrates;

constexpr std::size_t longest_unordered = am::impl::packet_payload_bytes;

// -- a mixture --------------------------------------------------------------------------------------------------------

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

void check_bytes(am::Payload payload, std::uint64_t number) {
  const auto wrong =
      std::ranges::find_if(payload.bytes(), [&](std::byte b) { return b != std::byte(number); });
  check(wrong == payload.bytes().end(), "a byte of the payload is wrong");
}
void low(am::Request& request, bool unordered, std::uint64_t number, std::uint64_t other) {
  request.state<Load>().from[0][request.from()].take(unordered, number, other);
}
void low_payload(am::Request& request, bool unordered, std::uint64_t number, std::uint64_t other,
                 am::Payload payload) {
  low(request, unordered, number, other);
  check_bytes(payload, number);
}
void high(am::Reply& reply, bool unordered, std::uint64_t number, std::uint64_t other) {
  reply.state<Load>().from[1][reply.from()].take(unordered, number, other);
}
void high_payload(am::Reply& reply, bool unordered, std::uint64_t number, std::uint64_t other,
                  am::Payload payload) {
  high(reply, unordered, number, other);
  check_bytes(payload, number);
}
void finished(am::Request& request) { ++request.state<Load>().finished; }

/// To one node at one priority.
struct Sender {
  am::NodeId to;
  bool is_low;
  std::uint64_t ordered = 0;
  std::uint64_t unordered = 0;

  [[nodiscard]] std::uint64_t sent() const { return ordered + unordered; }

  void send(am::Node& node, Random& random) {
    const std::uint64_t dice = random.below(16);
    const std::size_t size = dice < 10 ? 0 : dice < 15 ? random.below(longest_unordered + 1) : 3000;
    const bool asked = random.one_in(2);
    const bool waits = random.one_in(2);
    const bool mixes = asked && size <= longest_unordered;  // a long one goes in order
    am::Status status = am::Status::again;
    for (;;) {
      status = asked ? send_to(node, am::unordered(to), mixes, size, waits)
                     : send_to(node, to, mixes, size, waits);
      if (status != am::Status::again) break;
      check(!waits, "a waiting send waits");
      test::poll_or_yield(node);
    }
    check_equal(am::to_string(status), "ok", "a send");
    ++(mixes ? unordered : ordered);
  }

 private:
  template <class To>
  am::Status send_to(am::Node& node, To where, bool mixes, std::size_t size, bool waits) const {
    const std::uint64_t number = mixes ? unordered : ordered;
    const std::uint64_t other = mixes ? ordered : unordered;
    if (size == 0) {
      if (waits)
        return is_low ? node.request<low>(where, mixes, number, other)
                      : node.reply_to<high>(where, mixes, number, other);
      return is_low ? node.try_request<low>(where, mixes, number, other)
                    : node.try_reply_to<high>(where, mixes, number, other);
    }
    const std::vector<std::byte> bytes(size, std::byte(number));
    if (waits)
      return is_low ? node.request<low_payload>(where, mixes, number, other, bytes)
                    : node.reply_to<high_payload>(where, mixes, number, other, bytes);
    return is_low ? node.try_request<low_payload>(where, mixes, number, other, bytes)
                  : node.try_reply_to<high_payload>(where, mixes, number, other, bytes);
  }
};

void exchange(am::Node& node, std::uint64_t messages) {
  Load load(node);
  node.attach(load);
  Random random(mix(test::seed(), node.id()));
  std::vector<Sender> senders;
  for (am::NodeId to = 0; to < node.size(); ++to) {
    senders.push_back({to, true});
    senders.push_back({to, false});
  }
  std::uint64_t left = messages * senders.size();
  while (left != 0) {
    Sender& sender = senders[random.below(senders.size())];
    for (std::uint64_t burst = 1 + random.below(32); burst != 0 && sender.sent() != messages; --burst, --left)
      sender.send(node, random);
    if (random.one_in(8)) node.poll();
  }
  const auto all_came = [&] {
    return std::ranges::all_of(load.from, [&](const auto& by_sender) {
      return std::ranges::all_of(
          by_sender, [&](const Came& came) { return came.ordered + came.unordered_count == messages; });
    });
  };
  for (am::NodeId to = 0; to < node.size(); ++to)
    check(node.request<finished>(to) == am::Status::ok, "finished");
  node.wait_until([&] { return load.finished == node.size() && all_came(); });
  node.barrier();
  node.poll();
  const am::CriticalSection quiet(node);
  check(all_came(), "after a last look there are as many");
}

TEST_P(Unordered, ExactlyOnceAmongOrderedOnesThatKeepTheirOrder) {
  run(3, [](am::Node& node) { exchange(node, rounds(5'000)); });
}

TEST_P(Unordered, ToOneself) {
  run(1, [](am::Node& node) { exchange(node, rounds(30'000)); });
}

// -- from handlers ----------------------------------------------------------------------------------------------------

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
    reply.post([peer](am::Node& node) { check(node.request<last_low>(peer) == am::Status::ok, "request"); });
  if (n % 2 == 0 && reply.try_reply_to<last_high>(peer) != am::Status::ok)
    reply.post(
        [peer](am::Node& node) { check(node.reply_to<last_high>(peer) == am::Status::ok, "reply_to"); });
}
void ball(am::Request& request, std::uint64_t n, am::Payload payload) {
  ++request.state<Balls>().low;
  check_bytes(payload, n);
  const am::UnorderedTo peer = am::unordered(request.from());
  check(request.reply_to<back>(peer, n) == am::Status::ok, "a reply that waits");
  if (request.try_reply_to<last_high>(peer) != am::Status::ok)
    check(request.reply_to<last_high>(peer) == am::Status::ok, "a reply that waits");
  if (request.try_request<last_low>(peer) != am::Status::ok)
    request.post(
        [peer](am::Node& node) { check(node.request<last_low>(peer) == am::Status::ok, "request"); });
}

TEST_P(Unordered, FromHandlersOfBothLevels) {
  run(2, [](am::Node& node) {
    Balls balls;
    node.attach(balls);
    const std::uint64_t messages = 2 * rounds(3'000);
    const am::NodeId peer = 1 - node.id();
    for (std::uint64_t n = 0; n < messages; ++n) {
      const std::vector<std::byte> bytes(n % 300, std::byte(n));
      check(node.request<ball>(am::unordered(peer), n, bytes) == am::Status::ok, "request");
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

// -- full, unknown, held ----------------------------------------------------------------------------------------------

/// As many as the network takes; the number accepted.
std::uint64_t fill_low(am::Node& node, am::NodeId to) {
  std::uint64_t accepted = 0;
  for (int refused = 0; refused < 100;) {  // a network with faults refuses now and then though it is not full
    const am::Status status = node.try_request<low>(am::unordered(to), true, accepted, std::uint64_t{0});
    check(status == am::Status::ok || status == am::Status::again, "a failable send answers ok or again");
    refused = status == am::Status::ok ? 0 : refused + 1;
    accepted += status == am::Status::ok ? 1 : 0;
    check(accepted < 100'000, "the network takes messages without end");
  }
  return accepted;
}

TEST_P(Unordered, AFullNetworkSaysSoAndLosesNothing) {
  run(2, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    if (node.id() == 0) {
      const std::uint64_t accepted = fill_low(node, 1);
      check(node.reply_to<high>(am::unordered(1), true, std::uint64_t{0}, std::uint64_t{0}) == am::Status::ok,
            "high gets through");
      check(node.request<low>(am::unordered(1), true, accepted, std::uint64_t{0}) == am::Status::ok,
            "a send that waits for room");
      check(node.reply_to<high>(1, false, std::uint64_t{0}, accepted + 1) == am::Status::ok, "reply_to");
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

TEST_P(Unordered, AnOutletSendsThem) {
  run(2, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    const std::uint64_t messages = rounds(3'000);
    std::uint64_t sent = 0;
    const am::NodeId peer = 1 - node.id();
    node.on_outlet([&, peer](am::LowEvent& event) {
      sent +=
          event.try_request<low>(am::unordered(peer), true, sent, std::uint64_t{0}) == am::Status::ok ? 1 : 0;
      if (sent == messages) node.on_outlet({});
    });
    node.wait_until([&] { return sent == messages && load.from[0][peer].unordered_count == messages; });
    node.barrier();
  });
}

TEST_P(Unordered, AnUnknownNodeIsOne) {
  run(1, [](am::Node& node) {
    check(node.try_request<last_low>(am::unordered(1)) == am::Status::no_such_node, "try_request");
    check(node.try_reply_to<last_high>(am::unordered(7)) == am::Status::no_such_node, "try_reply_to");
    test::check_throws<am::Error>([&] { node.request<last_low>(am::unordered(1)); }, "node 1");
    test::check_throws<am::Error>([&] { node.reply_to<last_high>(am::unordered(1)); }, "node 1");
  });
}

// Its place in the network is taken, on most of them.
TEST_P(Unordered, WaitsBehindADraft) {
  run(1, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    am::Draft draft = node.prepare<low_payload>(0, 10, false, std::uint64_t{0}, std::uint64_t{0});
    std::ranges::fill(draft.data(), std::byte{0});
    check(node.try_request<low>(am::unordered(0), true, std::uint64_t{0}, std::uint64_t{1}) ==
              am::Status::again,
          "a send while a draft is held");
    check(draft.commit() == am::Status::ok, "commit");
    check(node.request<low>(am::unordered(0), true, std::uint64_t{0}, std::uint64_t{1}) == am::Status::ok,
          "a send when it is not");
    const Came& came = load.from[0][0];
    node.wait_until([&] { return came.ordered == 1 && came.unordered_count == 1; });
  });
}

TEST_P(Unordered, WhatALeavingNodeHasSentComes) {
  run(2, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    node.barrier();
    const std::uint64_t messages = rounds(500);
    if (node.id() == 1) {
      for (std::uint64_t n = 0; n < messages; ++n)
        check(node.request<low>(am::unordered(0), true, n, std::uint64_t{0}) == am::Status::ok, "request");
    } else {
      node.wait_until([&] { return load.from[0][1].unordered_count == messages; });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Unordered, test::cells_of<Unordered>(), test::name_of);

// -- networks that mix them -------------------------------------------------------------------------------------------

std::string seeded(const char* plan) {
  return "seed=" + std::to_string(test::seed() % 1'000'000) + "," + plan;
}

// All are under way before the first is taken: of ten some are given late, behind ordered ones. (By one seed of 10^10 none is.)
TEST_P(MixingNetworks, AreSeenToMix) {
  const test::Environment faults("AM_FAULTS", seeded("reorder=0.9"));
  run(1, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    node.barrier();
    constexpr std::uint64_t messages = 10;  // of each kind: together fewer than any network takes
    {
      const am::CriticalSection quiet(node);
      for (std::uint64_t n = 0; n < messages; ++n) {
        check(node.try_request<low>(am::unordered(0), true, n, n) == am::Status::ok, "unordered");
        check(node.try_request<low>(0, false, n, n + 1) == am::Status::ok, "ordered");
        check(node.try_reply_to<high>(am::unordered(0), true, n, n) == am::Status::ok, "unordered");
        check(node.try_reply_to<high>(0, false, n, n + 1) == am::Status::ok, "ordered");
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
  run(1, [](am::Node& node) {
    Load load(node);
    node.attach(load);
    const std::vector<std::byte> bytes(50'000);
    const auto sent = [](am::Status status) { return status == am::Status::ok; };
    for (std::uint64_t n = 0; n < 10;)
      n += sent(node.try_request<low>(am::unordered(0), true, n, std::uint64_t{0})) ? 1 : 0;
    while (!sent(node.try_request<low_payload>(0, false, std::uint64_t{0}, std::uint64_t{10}, bytes))) {
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, MixingNetworks, test::cells_of<MixingNetworks>(), test::name_of);

}  // namespace unordered_test
