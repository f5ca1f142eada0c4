// Payloads (clauses 1, 2 and 5): any size, in one piece or cut into packets, at both priorities, from senders that wait
// and from those that may not, to others and to oneself; and more than 4 GiB of them in a row.
#include <algorithm>
#include <am/collectives.hpp>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "support/job.hpp"

namespace payload_test {

using test::check;
using test::check_equal;
using test::mix;
using test::rounds;
using Payloads = test::OnEverySubstrate;
using ManyPayloads =
    test::OnSubstrates<test::Suite{.threads = false, .faults = false, .asynchronous = false}>;

constexpr std::size_t kibi = std::size_t{1} << 10;
constexpr std::size_t mebi = std::size_t{1} << 20;

std::vector<std::size_t> sizes_around_every_boundary() {
  std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 47, 48, 49, 63, 64, 65, 127, 128, 129, 959, 960, 961};
  for (const std::size_t pieces : {1, 2, 3, 9, 10, 11, 170}) {
    for (const std::size_t off : {0, 1, 2}) sizes.push_back(pieces * 1024 + off - 1);
  }
  if (!test::sanitized) {
    for (const std::size_t size : {64 * kibi, mebi - 1, mebi, mebi + 1, mebi + 300 * kibi})
      sizes.push_back(size);
  }
  return sizes;
}

/// Content that differs at every place and in every message.
void fill(std::span<std::byte> bytes, std::uint64_t number) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = mix(number, i);
    std::memcpy(&bytes[i], &word, 8);
  }
  for (; i < bytes.size(); ++i) bytes[i] = std::byte(mix(number, i));
}
void check_content(am::Payload payload, std::uint64_t number) {
  std::size_t i = 0;
  for (; i + 8 <= payload.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload.data() + i, 8);
    if (word != mix(number, i)) check_equal(i, payload.size(), "the first wrong byte of a payload");
  }
  for (; i < payload.size(); ++i) {
    if (payload.data()[i] != std::byte(mix(number, i)))
      check_equal(i, payload.size(), "the first wrong byte of a payload");
  }
}

struct Received {
  std::vector<std::uint64_t> next{};  // by 2 * sender + priority

  void take(std::size_t link, std::uint64_t number, std::uint64_t size, am::Payload payload) {
    check_equal(number, next[link]++, "the number of a message");
    check_equal(payload.size(), size, "the size of its payload");
    check_content(payload, number);
  }
};
void low(am::Request& request, std::uint64_t number, std::uint64_t size, am::Payload payload) {
  request.state<Received>().take(2 * std::size_t{request.from()}, number, size, payload);
}
void high(am::Reply& reply, std::uint64_t number, std::uint64_t size, am::Payload payload) {
  reply.state<Received>().take(2 * std::size_t{reply.from()} + 1, number, size, payload);
}

enum class Way { wait, attempt, draft, attempted_draft };

/// One message by one of the four ways; a failable one is tried until it is accepted.
template <auto H, am::Priority P>
void send(am::Node& node, am::NodeId to, Way way, std::uint64_t number, std::size_t size) {
  std::vector<std::byte> bytes(size);
  fill(bytes, number);
  am::Status status = am::Status::again;
  if (way == Way::wait) {
    if constexpr (P == am::Priority::low) {
      status = node.request<H>(to, number, size, bytes);
    } else {
      status = node.reply_to<H>(to, number, size, bytes);
    }
  } else if (way == Way::draft) {
    am::Draft draft = node.prepare<H>(to, size, number, size);
    check(draft.status() == am::Status::ok && draft.data().size() == size, "prepare");
    std::ranges::copy(bytes, draft.data().begin());
    status = draft.commit();
  } else if (way == Way::attempt) {
    for (;;) {
      if constexpr (P == am::Priority::low) {
        status = node.try_request<H>(to, number, size, bytes);
      } else {
        status = node.try_reply_to<H>(to, number, size, bytes);
      }
      if (status != am::Status::again) break;
      test::poll_or_yield(node);
    }
  } else {
    for (;;) {
      am::Draft draft = node.try_prepare<H>(to, size, number, size);
      status = draft.status();
      if (status == am::Status::ok) {
        std::ranges::copy(bytes, draft.data().begin());
        while ((status = draft.commit()) == am::Status::again) test::poll_or_yield(node);
        break;
      }
      test::poll_or_yield(node);
    }
  }
  std::ranges::fill(bytes, std::byte{0xee});  // the bytes were copied, or sent, before the send returned
  check_equal(am::to_string(status), "ok", "a send");
}

/// Every size by every way at both priorities to everybody, the ways shifted from node to node.
void all_sizes(am::Node& node) {
  Received received{std::vector<std::uint64_t>(2 * std::size_t{node.size()})};
  node.attach(received);
  std::vector<std::uint64_t> number(2 * std::size_t{node.size()});
  std::uint64_t way = node.id();
  const auto sizes = sizes_around_every_boundary();
  for (const std::size_t size : sizes) {
    for (am::NodeId to = 0; to < node.size(); ++to) {
      for (int k = 0; k < 2; ++k, ++way) {
        send<low, am::Priority::low>(node, to, static_cast<Way>(way % 4), number[2 * to]++, size);
        send<high, am::Priority::high>(node, to, static_cast<Way>((way + 1) % 4), number[2 * to + 1]++, size);
      }
    }
  }
  const std::uint64_t expected = 2 * sizes.size();
  node.wait_until([&] { return std::ranges::all_of(received.next, [&](auto n) { return n == expected; }); });
  node.barrier();
}

TEST_P(Payloads, EverySizeByEveryWayBetweenTwo) { run(2, all_sizes); }
TEST_P(Payloads, EverySizeByEveryWayAmongThree) { run(3, all_sizes); }
TEST_P(Payloads, EverySizeByEveryWayToOneself) { run(1, all_sizes); }

TEST_P(Payloads, SixtyFourMebibytes) {
  run(2, [](am::Node& node) {
    Received received{std::vector<std::uint64_t>(2 * std::size_t{node.size()})};
    node.attach(received);
    const bool faults = GetParam().nodes == test::Nodes::threads_with_faults;
    const std::size_t size = 64 * mebi / (test::sanitized || faults ? 64 : 1);
    if (node.id() == 0) {
      send<low, am::Priority::low>(node, 1, Way::wait, 0, size);
      send<low, am::Priority::low>(node, 1, Way::attempt, 1, size / 16 + 1);
      send<high, am::Priority::high>(node, 1, Way::draft, 0, size / 16 - 1);
      send<high, am::Priority::high>(node, 1, Way::attempted_draft, 1, size / 16);
    }
    node.wait_until([&] { return node.id() == 0 || (received.next[0] == 2 && received.next[1] == 2); });
    node.barrier();
  });
}

// Long ones cross: each node sends to each, waiting, and so takes in while it sends.
TEST_P(Payloads, LongOnesCross) {
  run(4, [](am::Node& node) {
    Received received{std::vector<std::uint64_t>(2 * std::size_t{node.size()})};
    node.attach(received);
    const std::uint64_t messages = rounds(60);
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (am::NodeId k = 0; k < node.size(); ++k) {
        const am::NodeId to = (node.id() + k) % node.size();
        send<low, am::Priority::low>(node, to, Way::wait, i, 20'000 + i);
        send<high, am::Priority::high>(node, to, Way::attempt, i, 10'000 + i);
      }
    }
    node.wait_until(
        [&] { return std::ranges::all_of(received.next, [&](auto n) { return n == messages; }); });
    node.barrier();
  });
}

// -- receivers that take nothing --------------------------------------------------------------------------------------

struct Slow {
  std::uint64_t ready = 0;
  std::uint64_t came = 0;
  std::uint64_t answers = 0;
  bool awake = false;
};
void is_ready(am::Reply& reply) { ++reply.state<Slow>().ready; }
void go_on(am::Reply& reply) { reply.state<Slow>().awake = true; }
void answer_comes(am::Reply& reply, am::Payload payload) {
  check_content(payload, 5);
  ++reply.state<Slow>().answers;
}
void pile_up(am::Request& request, am::Payload payload) {
  check_content(payload, 5);
  ++request.state<Slow>().came;
}
void send_back(am::Request& request, am::Payload payload) {
  check(request.reply<answer_comes>(payload) == am::Status::ok, "a long reply");
}

/// Read while no handler runs: in the modes with events of their own one may be counting.
std::uint64_t came_so_far(am::Node& node, const Slow& state) {
  const am::CriticalSection quiet(node);
  return state.came;
}

// Clauses 3 and 5: whatever memory a network has for long payloads, nodes that take none of theirs keep it from nobody else,
// and low never keeps it from high.
TEST_P(Payloads, ForNodesThatTakeNoneKeepNobodyElseWaiting) {
  run(4, [](am::Node& node) {
    Slow state;
    node.attach(state);
    const bool slow = node.id() >= 2;
    if (slow) node.enable_low_events(false);
    check(node.reply_to<is_ready>(0) == am::Status::ok, "ready");
    std::vector<std::byte> bytes(test::sanitized ? 20'000 : 200'000);
    fill(bytes, 5);
    std::uint64_t sent = 0;
    if (node.id() == 0) {
      node.wait_until([&] { return state.ready == 4; });
      // Until both are full: that is not said once only where faults refuse.
      for (int refused = 0; refused < 100; ++refused) {
        for (const am::NodeId to : {2u, 3u}) {
          while (sent < 10'000 && node.try_request<pile_up>(to, bytes) == am::Status::ok) ++sent;
        }
      }
      check(sent < 10'000, "memory is bounded");
      for (std::uint64_t i = 1; i <= 20; ++i) {
        check(node.request<send_back>(1, bytes) == am::Status::ok, "to a node that takes its messages");
        node.wait_until([&] { return state.answers == 2 * i - 1; });
        check(node.reply_to<answer_comes>(0, bytes) == am::Status::ok, "high, to itself");
        node.wait_until([&] { return state.answers == 2 * i; });
      }
      for (const am::NodeId to : {2u, 3u}) check(node.reply_to<go_on>(to) == am::Status::ok, "go on");
    }
    if (slow) {
      node.wait_until([&] { return state.awake; });
      node.enable_low_events(true);
    }
    node.barrier();
    const std::uint64_t all = am::all_reduce(node, sent, std::plus<>());
    std::uint64_t came = 0;
    do {
      came = am::all_reduce(node, came_so_far(node, state), std::plus<>());
    } while (came < all);
    check_equal(came, all, "what was accepted comes, once");
  });
}

// -- long messages and handlers in each other's way ------------------------------------------------------------------

struct Crossing {
  std::uint64_t longs = 0;
  std::uint64_t replies = 0;
  std::uint64_t questions = 0;
};
void long_reply(am::Reply& reply, am::Payload payload) {
  check_content(payload, 5);
  ++reply.state<Crossing>().longs;
}
void short_reply(am::Reply& reply) { ++reply.state<Crossing>().replies; }
void question(am::Request& request) {
  ++request.state<Crossing>().questions;
  check(request.reply<short_reply>() == am::Status::ok, "reply");
}
/// A kept long message is under way on the very link on which the handler then waits.
void question_for_both(am::Request& request) {
  std::vector<std::byte> bytes(4'000'000);  // more than goes at once
  fill(bytes, 5);
  check(request.try_reply<long_reply>(bytes) == am::Status::ok, "a long reply");
  check(request.reply<short_reply>() == am::Status::ok, "a short one behind it, waiting");
  ++request.state<Crossing>().questions;
}

TEST(LongAndShort, AHandlerWaitsBehindItsOwnLongReply) {
  test::run_alone([](am::Node& node) {
    Crossing crossing;
    node.attach(crossing);
    check(node.request<question_for_both>(0) == am::Status::ok, "request");
    node.wait_until([&] { return crossing.replies == 1; });
    check_equal(crossing.longs, 1u, "the long reply, before the short one");
  });
}

TEST(LongAndShort, AHandlerWaitsBehindALongSendThatItInterrupts) {
  test::run_alone([](am::Node& node) {
    Crossing crossing;
    node.attach(crossing);
    std::vector<std::byte> bytes(4'000'000);
    fill(bytes, 5);
    for (std::uint64_t i = 1; i <= 5; ++i) {
      for (int k = 0; k < 3; ++k) check(node.try_request<question>(0) == am::Status::ok, "request");
      check(node.reply_to<long_reply>(0, bytes) == am::Status::ok,
            "a long message on the link of the replies");
      node.wait_until([&] { return crossing.longs == i && crossing.replies == 3 * i; });
    }
  });
}

TEST_P(Payloads, LongSendsAndWaitingRepliesOnOneLink) {
  run(3, [](am::Node& node) {
    Crossing crossing;
    node.attach(crossing);
    std::vector<std::byte> bytes(100'000);
    fill(bytes, 5);
    const std::uint64_t messages = rounds(100);
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (am::NodeId to = 0; to < node.size(); ++to) {
        check(node.request<question>(to) == am::Status::ok, "request");
        check(node.reply_to<long_reply>(to, bytes) == am::Status::ok,
              "a long message on the link of the replies");
        check(node.request<question>(to) == am::Status::ok, "request");
      }
    }
    const std::uint64_t all = node.size() * messages;
    node.wait_until([&] {
      return crossing.longs == all && crossing.replies == 2 * all && crossing.questions == 2 * all;
    });
    node.barrier();
  });
}

// -- more than 4 GiB ---------------------------------------------------------------------------------------------------

struct Stream {
  std::vector<std::byte> image{};
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};
void take_block(am::Request& request, std::uint64_t number, am::Payload payload) {
  auto& stream = request.state<Stream>();
  check_equal(number, stream.messages++, "the number of a block");
  check_equal(payload.size(), 64 * mebi, "its size");
  // Sparsely: a word in each packet, which carries its place.
  for (std::size_t at = 0; at < payload.size(); at += 1024) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload.data() + at, 8);
    if (word != at) check_equal(word, at, "the word at the beginning of a packet");
  }
  std::uint64_t stamp = 0;
  std::memcpy(&stamp, payload.data() + payload.size() - 8, 8);
  check_equal(stamp, number, "the last word of a block");
  stream.bytes += payload.size();
}

// To itself: one node fills and empties the ring in turn, so the test does not depend on two of them running at once. What
// could overflow at 4 GiB is the same, in every mode and for nodes of every kind.
TEST_P(ManyPayloads, MoreThanFourGibibytesInTotal) {
  if (test::sanitized)
    GTEST_SKIP() << "a matter of size; the sanitizers see the same code in the tests above";
  run(1, [](am::Node& node) {
    Stream stream;
    node.attach(stream);
    constexpr std::uint64_t blocks = 66;  // 4.1 GiB
    std::vector<std::uint64_t> block(64 * mebi / 8);
    for (std::size_t i = 0; i < block.size(); i += 128) block[i] = 8 * i;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      block.back() = i;
      check(node.request<take_block>(0, i, block) == am::Status::ok, "a block");
    }
    node.wait_until([&] { return stream.messages == blocks; });
    check(stream.bytes > std::uint64_t{4} << 30, "more than 4 GiB");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Payloads, test::cells_of<Payloads>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, ManyPayloads, test::cells_of<ManyPayloads>(), test::name_of);

}  // namespace payload_test
