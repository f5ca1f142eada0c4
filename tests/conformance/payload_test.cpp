// Payloads (clauses 1, 2 and 5): any size, in one piece or cut into packets, at both priorities, from senders that wait
// and from those that may not, to others and to oneself; and more than 4 GiB of them in a row.
#include <am/collectives.hpp>

#include "support/job.hpp"
#include "support/patterns.hpp"

namespace payload_test {

using namespace test;
using Payloads = test::OnEveryNetwork;
using ManyPayloads = test::OnSubstrates<test::Suite{
    .threads = false, .faults = false, .asynchronous = false, .about = test::About::node}>;

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

void check_content(am::Payload payload, std::uint64_t number) {
  const std::size_t right = right_bytes(payload.data(), payload.size(), number);
  check(right == payload.size(), "byte " + std::to_string(right) + " of a payload is the first wrong one");
}

struct Received {
  explicit Received(const am::Node& node) : next(2 * std::size_t{node.size()}) {}
  std::vector<std::uint64_t> next;  // by 2 * sender + priority

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

am::Draft prepare(am::Node& node, am::NodeId to, am::Priority priority, bool waits, std::uint64_t number,
                  std::size_t size) {
  const bool is_low = priority == am::Priority::low;
  if (waits)
    return is_low ? node.prepare<low>(to, size, number, size) : node.prepare<high>(to, size, number, size);
  for (;; test::poll_or_yield(node)) {
    am::Draft draft = is_low ? node.try_prepare<low>(to, size, number, size)
                             : node.try_prepare<high>(to, size, number, size);
    if (draft.status() != am::Status::again) return draft;
  }
}

/// One message by one of the four ways; a failable one is tried until it is accepted.
void send(am::Node& node, am::NodeId to, am::Priority priority, Way way, std::uint64_t number,
          std::size_t size) {
  std::vector<std::byte> bytes = patterned(size, number);
  if (way == Way::wait || way == Way::attempt) {
    check_ok(test::send<low, high>(node, priority, way == Way::wait, to, number, size, bytes));
  } else {
    am::Draft draft = prepare(node, to, priority, way == Way::draft, number, size);
    check(draft.status() == am::Status::ok && draft.data().size() == size, "prepare");
    std::ranges::copy(bytes, draft.data().begin());
    check_ok(test::send_when_there_is_room(node, [&] { return draft.commit(); }));
  }
  std::ranges::fill(bytes, std::byte{0xee});  // the bytes were copied, or sent, before the send returned
}

/// Every size by every way at both priorities to everybody, the ways shifted from node to node.
TEST_P(Payloads, EverySizeByEveryWay) {
  run<Received>(3, [](am::Node& node, const Received& received) {
    std::vector<std::uint64_t> number(node.size());
    std::uint64_t way = node.id();
    const auto sizes = sizes_around_every_boundary();
    for (const std::size_t size : sizes) {
      for (am::NodeId to = 0; to < node.size(); ++to) {
        for (int k = 0; k < 2; ++k, ++way, ++number[to]) {
          send(node, to, am::Priority::low, static_cast<Way>(way % 4), number[to], size);
          send(node, to, am::Priority::high, static_cast<Way>((way + 1) % 4), number[to], size);
        }
      }
    }
    const std::vector<std::uint64_t> all(received.next.size(), 2 * sizes.size());
    node.wait_until([&] { return received.next == all; });
    node.barrier();
  });
}

TEST_P(Payloads, SixtyFourMebibytes) {
  const bool faults = GetParam().nodes == test::Nodes::threads_with_faults;
  const std::size_t size = test::sanitized || faults ? mebi : rounds(64) * mebi;
  run<Received>(2, [size](am::Node& node, const Received& received) {
    if (node.id() == 0) {
      send(node, 1, am::Priority::low, Way::wait, 0, size);
      send(node, 1, am::Priority::low, Way::attempt, 1, size / 16 + 1);
      send(node, 1, am::Priority::high, Way::draft, 0, size / 16 - 1);
      send(node, 1, am::Priority::high, Way::attempted_draft, 1, size / 16);
    }
    node.wait_until([&] { return node.id() == 0 || (received.next[0] == 2 && received.next[1] == 2); });
    node.barrier();
  });
}

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
void send_back(am::Request& request, am::Payload payload) { check_ok(request.reply<answer_comes>(payload)); }

/// Read while no handler runs: in the modes with events of their own one may be counting.
std::uint64_t came_so_far(am::Node& node, const Slow& state) {
  const am::CriticalSection quiet(node);
  return state.came;
}

// Clauses 3 and 5: whatever memory a network has for long payloads, nodes that take none of theirs keep it from nobody else,
// and low never keeps it from high.
TEST_P(Payloads, ForNodesThatTakeNoneKeepNobodyElseWaiting) {
  run<Slow>(4, [](am::Node& node, Slow& state) {
    const bool slow = node.id() >= 2;
    if (slow) node.enable_low_events(false);
    check_ok(node.reply_to<is_ready>(0));
    const auto bytes = patterned(test::sanitized ? 20'000 : 200'000, 5);
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
        check_ok(node.request<send_back>(1, bytes), "to a node that takes its messages");
        node.wait_until([&] { return state.answers == 2 * i - 1; });
        check_ok(node.reply_to<answer_comes>(0, bytes), "high, to itself");
        node.wait_until([&] { return state.answers == 2 * i; });
      }
      for (const am::NodeId to : {2u, 3u}) check_ok(node.reply_to<go_on>(to));
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
  check_ok(request.reply<short_reply>());
}
/// A kept long message is under way on the very link on which the handler then waits.
void question_for_both(am::Request& request) {
  check_ok(request.try_reply<long_reply>(patterned(4'000'000, 5)), "more than goes at once");
  check_ok(request.reply<short_reply>(), "a short one behind it, waiting");
  ++request.state<Crossing>().questions;
}

TEST(LongAndShort, AHandlerWaitsBehindItsOwnLongReply) {
  test::run_alone<Crossing>([](am::Node& node, Crossing& crossing) {
    check_ok(node.request<question_for_both>(0));
    node.wait_until([&] { return crossing.replies == 1; });
    check_equal(crossing.longs, 1u, "the long reply, before the short one");
  });
}

TEST(LongAndShort, AHandlerWaitsBehindALongSendThatItInterrupts) {
  test::run_alone<Crossing>([](am::Node& node, Crossing& crossing) {
    const auto bytes = patterned(4'000'000, 5);
    for (std::uint64_t i = 1; i <= 5; ++i) {
      for (int k = 0; k < 3; ++k) check_ok(node.try_request<question>(0));
      check_ok(node.reply_to<long_reply>(0, bytes), "a long message on the link of the replies");
      node.wait_until([&] { return crossing.longs == i && crossing.replies == 3 * i; });
    }
  });
}

TEST_P(Payloads, LongSendsAndWaitingRepliesOnOneLink) {
  run<Crossing>(3, [](am::Node& node, Crossing& crossing) {
    const auto bytes = patterned(100'000, 5);
    const std::uint64_t messages = rounds(100);
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (am::NodeId to = 0; to < node.size(); ++to) {
        check_ok(node.request<question>(to));
        check_ok(node.reply_to<long_reply>(to, bytes), "a long message on the link of the replies");
        check_ok(node.request<question>(to));
      }
    }
    const std::uint64_t all = node.size() * messages;
    node.wait_until([&] {
      return crossing.longs == all && crossing.replies == 2 * all && crossing.questions == 2 * all;
    });
    node.barrier();
  });
}

struct Stream {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};
void take_block(am::Request& request, std::uint64_t number, am::Payload payload) {
  auto& stream = request.state<Stream>();
  check_equal(number, stream.messages++, "the number of a block");
  check_equal(payload.size(), 64 * mebi, "its size");
  const auto words = payload.as<std::uint64_t>();
  for (std::size_t i = 0; i < words.size();
       i += 128)  // sparsely: one in each packet, which carries its place
    check_equal(words[i], 8 * i, "the word at the beginning of a packet");
  check_equal(words.back(), number, "the last word of a block");
  stream.bytes += payload.size();
}

// To itself: one node fills and empties the ring in turn, so the test does not depend on two of them running at once. What
// could overflow at 4 GiB is the same, in every mode and for nodes of every kind. (On other networks than shared memory at night.)
TEST_P(ManyPayloads, MoreThanFourGibibytesInTotal) {
  if (test::sanitized)
    GTEST_SKIP() << "a matter of size; the sanitizers see the same code in the tests above";
  run<Stream>(1, [](am::Node& node, Stream& stream) {
    constexpr std::uint64_t blocks = 66;  // 4.1 GiB
    std::vector<std::uint64_t> block(64 * mebi / 8);
    for (std::size_t i = 0; i < block.size(); i += 128) block[i] = 8 * i;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      block.back() = i;
      check_ok(node.request<take_block>(0, i, block));
    }
    node.wait_until([&] { return stream.messages == blocks; });
    check(stream.bytes > std::uint64_t{4} << 30, "more than 4 GiB");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Payloads, test::cells_of<Payloads>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, ManyPayloads, test::cells_of<ManyPayloads>(), test::name_of);

}  // namespace payload_test
